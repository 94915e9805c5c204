/**
 * The arithmetic of the buckets, carried out inside Valkey by its own clock. An organisation is one hash; a bucket is one
 * field with two numbers: how full it was, and when that was true. It empties itself evenly, limit per period.
 * `local-buckets.ts` does the same in this process, for when Valkey is away.
 *
 * Beside the buckets the hash has `@` (made anew at, expiry set at), `o:<id>` for every open reservation, and
 * `t:<bucket>` for the last slot that was promised to a request that it refused.
 */
const levelNow = `
local function level_now(packed, now, lost, limit, period)
  if not packed then
    -- A minute bucket that was lost is full again, and empties itself from then on. Others are given when the hash is made.
    if lost > 0 and period == 60000000 then
      return math.max(0, limit - (now - lost) * limit / period)
    end
    return 0
  end
  local level, at = struct.unpack('dd', packed)
  if period > 0 and now > at then
    level = level - (now - at) * limit / period
    if level < 0 then return 0 end
  end
  return level
end
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end
`

/**
 * KEYS: hash. ARGV: reservation id, its holder, what of it is settled later, hash lifetime in seconds, then five for each
 * bucket: field, limit, period in microseconds (0: does not empty itself), cost, whether a refused request takes it too.
 * Gives `new` when there is no hash, `again` when the reservation is open already, else: admitted (1 or 0), bucket that
 * bound (from 1), milliseconds to come back after (-1: never), and the levels before, in one text.
 */
export const admitScript = `${levelNow}
local key = KEYS[1]
local buckets = (#ARGV - 4) / 5
local fields = { '@', 'o:' .. ARGV[1] }
for i = 1, buckets do fields[i + 2] = ARGV[i * 5] end
local held = redis.call('HMGET', key, unpack(fields))
if not held[1] then return 'new' end
if held[2] then return 'again' end
local lost, expiry_set = struct.unpack('dd', held[1])
local now = clock()
local levels, shown = {}, {}
local binding, wait, never = 0, 0, false
for i = 1, buckets do
  local at = i * 5
  local limit, period, cost = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local level = level_now(held[i + 2], now, lost, limit, period)
  levels[i] = level
  shown[i] = string.format('%.6f', level)
  local over = level + cost - limit
  if over > 0.0000001 and not never then
    if period == 0 or cost > limit then
      binding, never = i, true
    else
      local free = over * period / limit
      if free > wait or binding == 0 then binding, wait = i, free end
    end
  end
end
local writes = {}
if binding == 0 then
  for i = 1, buckets do
    writes[#writes + 1] = ARGV[i * 5]
    writes[#writes + 1] = struct.pack('dd', levels[i] + ARGV[i * 5 + 3], now)
  end
  writes[#writes + 1] = 'o:' .. ARGV[1]
  writes[#writes + 1] = string.format('%.0f', now) .. '|' .. ARGV[2] .. '|' .. ARGV[3]
else
  for i = 1, buckets do
    local at = i * 5
    if ARGV[at + 4] == '1' then
      writes[#writes + 1] = ARGV[at]
      writes[#writes + 1] = struct.pack('dd', math.max(levels[i], math.min(tonumber(ARGV[at + 1]), levels[i] + ARGV[at + 3])), now)
    end
  end
  if not never then
    -- Everyone who is refused is told a slot of their own, a little wider apart than the bucket gives them out.
    local at = binding * 5
    local limit, period, cost = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
    if ARGV[at + 4] == '1' then wait = math.max(wait, cost * period / limit) end
    local promised = tonumber(redis.call('HGET', key, 't:' .. ARGV[at]) or '0')
    local slot = math.max(now + wait, promised + 1.1 * cost * period / limit)
    if slot - now <= 60000000 then
      writes[#writes + 1] = 't:' .. ARGV[at]
      writes[#writes + 1] = string.format('%.0f', slot)
    end
    wait = slot - now
  end
end
if now - expiry_set > 3600000000 then
  writes[#writes + 1] = '@'
  writes[#writes + 1] = struct.pack('dd', lost, now)
  redis.call('EXPIRE', key, ARGV[4])
end
if #writes > 0 then redis.call('HSET', key, unpack(writes)) end
if binding == 0 then return { 1, 0, 0, table.concat(shown, ' ') } end
return { 0, binding, never and -1 or math.ceil(wait / 1000), table.concat(shown, ' ') }
`

/**
 * KEYS: hash. ARGV: reservation id, `settle` or `release`, tokens used (empty: the charge of tokens stands), spend.
 * The reservation has, for each bucket that is settled: kind, field, limit, period and cost, as admitted. Gives what it
 * had, or nil when it is not open (any more).
 */
export const settleScript = `${levelNow}
local key = KEYS[1]
local head = redis.call('HMGET', key, '@', 'o:' .. ARGV[1])
local open = head[2]
if not open then return nil end
local lost = struct.unpack('dd', head[1])
redis.call('HDEL', key, 'o:' .. ARGV[1])
local now = clock()
local writes = {}
for kind, field, limit, period, cost in string.gmatch(open, '([dts]) ([^ ]+) ([^ ]+) ([^ ]+) ([^;]+);') do
  limit, period, cost = tonumber(limit), tonumber(period), tonumber(cost)
  local delta = 0
  if ARGV[2] == 'release' then delta = -cost
  elseif kind == 't' and ARGV[3] ~= '' then delta = ARGV[3] - cost
  elseif kind == 's' then delta = ARGV[4] - cost end
  if delta ~= 0 then
    local level = level_now(redis.call('HGET', key, field), now, lost, limit, period)
    writes[#writes + 1] = field
    writes[#writes + 1] = struct.pack('dd', math.max(0, level + delta), now)
  end
end
if #writes > 0 then redis.call('HSET', key, unpack(writes)) end
return open
`

/**
 * KEYS: hash. ARGV: field, limit, period and amount for each bucket. Adds what was used without a reservation; a bucket
 * may be fuller than its limit then. Nothing when there is no hash: it is made from the ledger.
 */
export const addScript = `${levelNow}
local head = redis.call('HGET', KEYS[1], '@')
if not head then return 0 end
local lost = struct.unpack('dd', head)
local now = clock()
for i = 1, #ARGV, 4 do
  local level = level_now(redis.call('HGET', KEYS[1], ARGV[i]), now, lost, tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]))
  redis.call('HSET', KEYS[1], ARGV[i], struct.pack('dd', level + ARGV[i + 3], now))
end
return 1
`

/**
 * KEYS: hash. ARGV: whether buckets were lost (1 or 0), hash lifetime in seconds, number of levels, then field and level
 * for each, then reservation id and its text for each that was open. Makes the hash unless somebody has just made it.
 */
export const openScript = `
local key = KEYS[1]
if redis.call('EXISTS', key) == 1 then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local writes = { '@', struct.pack('dd', ARGV[1] == '1' and now or 0, now) }
local levels = tonumber(ARGV[3])
for i = 4, 3 + 2 * levels, 2 do
  writes[#writes + 1] = ARGV[i]
  writes[#writes + 1] = struct.pack('dd', tonumber(ARGV[i + 1]), now)
end
for i = 4 + 2 * levels, #ARGV, 2 do
  writes[#writes + 1] = 'o:' .. ARGV[i]
  writes[#writes + 1] = string.format('%.0f', now) .. '|' .. ARGV[i + 1]
end
redis.call('HSET', key, unpack(writes))
redis.call('EXPIRE', key, ARGV[2])
return 1
`
