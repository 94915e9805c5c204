/**
 * The arithmetic of the buckets, carried out inside Valkey by its own clock. An organisation is one hash; a bucket is one
 * field with two numbers: how full it was, and when that was true. It empties itself evenly, limit per period.
 * `local-buckets.ts` does the same in this process, for when Valkey is away.
 *
 * Beside the buckets the hash has `@` (lost at, expiry set at, ledger read at), `o:<id>` for every open reservation,
 * `t:<bucket>` for the last slot that was promised to a request that it refused, and from when on room is kept for such,
 * `t:<bucket>#line` for the last slot that was promised to work in a line, and `r` while spend and days should be
 * counted again from the ledger.
 */

/** Microseconds, by Valkey's own clock. Tests put another in its place to make time pass. */
export const clockText = `
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end
`

const levelNow = `${clockText}
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
`

/**
 * KEYS: hash. ARGV: reservation id, its holder, what of it is settled later, hash lifetime in seconds, four numbers for
 * each bucket and one more, packed, and then the field of each. The numbers: limit, period in microseconds (0: does not
 * empty itself), cost, whether a refused request takes it too; who asks (0: a request, 1: work in a line, 2: work that
 * wants no slot). Gives `new` when there is no hash, `again` when the reservation is open
 * already, else admitted (1 or 0), bucket that bound (from 1), milliseconds to come back after (-1: never), the levels
 * before, and the time of it: all numbers, packed. It runs for every request, so it makes few tables and no text of any number.
 */
export const admitScript = `${levelNow}
local key, id = KEYS[1], 'o:' .. ARGV[1]
local buckets = #ARGV - 5
local held = redis.call('HMGET', key, '@', id, unpack(ARGV, 6))
if not held[1] then return 'new' end
if held[2] then return 'again' end
local pack = struct.pack
local lost, expiry_set, read_at = struct.unpack('ddd', held[1])
local numbers = { struct.unpack(string.rep('dddd', buckets) .. 'd', ARGV[5]) }
local now = clock()
local levels = {}
local binding, wait, never = 0, 0, false
local at = 1
for i = 1, buckets do
  local limit, period, cost = numbers[at], numbers[at + 1], numbers[at + 2]
  local level = level_now(held[i + 2], now, lost, limit, period)
  levels[i] = level
  local over = level + cost - limit
  if over > 0.0000001 and not never then
    if period == 0 or cost > limit then
      binding, never = i, true
    else
      local free = over * period / limit
      if free > wait or binding == 0 then binding, wait = i, free end
    end
  end
  at = at + 4
end
local writes, count = {}, 0
if binding == 0 then
  at = 3
  for i = 1, buckets do
    writes[count + 1] = ARGV[i + 5]
    writes[count + 2] = pack('dd', levels[i] + numbers[at], now)
    count = count + 2
    at = at + 4
  end
  writes[count + 1] = id
  writes[count + 2] = string.format('%d', now) .. '|' .. ARGV[2] .. '|' .. ARGV[3]
  count = count + 2
else
  at = 1
  for i = 1, buckets do
    if numbers[at + 3] == 1 then
      local limit, cost = numbers[at], numbers[at + 2]
      local level = math.max(levels[i], math.min(limit, levels[i] + cost))
      writes[count + 1] = ARGV[i + 5]
      writes[count + 2] = pack('dd', level, now)
      count = count + 2
      -- Whichever bucket bound: being refused has taken from this one, and it must have room again as well.
      wait = math.max(wait, (level + cost - limit) * numbers[at + 1] / limit)
    end
    at = at + 4
  end
  if not never then
    at = binding * 4 - 3
    local each = numbers[at + 2] * numbers[at + 1] / numbers[at]
    local asker = numbers[4 * buckets + 1]
    local slot = now + wait
    if asker < 2 then
      local field = 't:' .. ARGV[binding + 5]
      local promised = redis.call('HMGET', key, field, field .. '#line')
      local last, from, line_last = 0, 0, 0
      if promised[1] then
        last = struct.unpack('d', promised[1])
        from = #promised[1] > 8 and struct.unpack('d', promised[1], 9) or last
      end
      if promised[2] then line_last = struct.unpack('d', promised[2]) end
      local promise
      if asker == 1 then
        -- A line asks for one slot at a time and comes at it, so nothing is left between two of them, and one that is past
        -- holds nobody up: the bucket is used to its limit, but for what requests need that were promised a slot.
        if line_last > now then slot = math.max(slot, line_last + each) end
        if last > now and slot > from then slot = math.max(slot, last + each) end
        field = field .. '#line'
        promise = pack('d', slot)
      else
        -- Everyone who is refused is told a slot of their own. Whoever is let in at one asks again, and being refused takes
        -- from the bucket too: slots are further apart than the bucket gives them out, the less so the longer the line is.
        if promised[1] then
          local line = math.min(1, math.max(0, (last - now) / 60000000))
          slot = math.max(slot, last + 1.1 * each + (1 - line) * math.min(10 * each, 1000000))
        end
        if line_last > now then slot = math.max(slot, line_last + 1.1 * each) end
        if last <= now then from = slot - 1.1 * each end
        promise = pack('dd', slot, from)
      end
      if slot - now <= 60000000 then
        writes[count + 1] = field
        writes[count + 2] = promise
        count = count + 2
      end
    end
    wait = slot - now
  end
end
if now - expiry_set > 3600000000 then
  writes[count + 1] = '@'
  writes[count + 2] = pack('ddd', lost, now, read_at)
  count = count + 2
  redis.call('EXPIRE', key, ARGV[4])
end
if count > 0 then redis.call('HSET', key, unpack(writes)) end
local told = binding == 0 and 1 or 0
local back = never and -1 or math.ceil(wait / 1000)
levels[buckets + 1] = now
return pack('dddd' .. string.rep('d', buckets), told, binding, back, unpack(levels))
`

/**
 * KEYS: hash. ARGV: reservation id, `settle` or `release`, tokens used (empty: the charge of tokens stands), spend, how
 * long ago that was written to the ledger in microseconds (empty: it may have been settled before), and the fields of
 * spend. The reservation has, for each bucket that is settled: kind, field, limit, period and cost, as admitted. Gives the
 * time of it and what it had, or nil when it is not open: it was settled before, or went down with an earlier Valkey, or was made without
 * one. What was spent then counts all the same, unless the hash was made from a ledger that had it.
 */
export const settleScript = `${levelNow}
local key, id = KEYS[1], 'o:' .. ARGV[1]
local head = redis.call('HMGET', key, '@', id)
local open = head[2]
if not head[1] or (not open and ARGV[5] == '') then return nil end
local lost, _, read_at = struct.unpack('ddd', head[1])
local now = clock()
local writes, count = {}, 0
local function change(field, limit, period, delta)
  local level = level_now(redis.call('HGET', key, field), now, lost, limit, period)
  writes[count + 1] = field
  writes[count + 2] = struct.pack('dd', math.max(0, level + delta), now)
  count = count + 2
end
if open then
  redis.call('HDEL', key, id)
  local release, tokens = ARGV[2] == 'release', tonumber(ARGV[3])
  -- With the charge of tokens standing, only spend is settled.
  local kinds = (release or tokens) and '([dts])' or '(s)'
  for kind, field, limit, period, cost in string.gmatch(open, '[|;]' .. kinds .. ' ([^ ]+) ([^ ]+) ([^ ]+) ([^;]+)') do
    local delta = 0
    if release then delta = -cost
    elseif kind == 't' then delta = tokens - cost
    elseif kind == 's' then delta = ARGV[4] - cost end
    if delta ~= 0 then change(field, tonumber(limit), tonumber(period), delta) end
  end
elseif read_at <= now - ARGV[5] then
  for i = 6, #ARGV do change(ARGV[i], 0, 0, tonumber(ARGV[4])) end
  writes[count + 1], writes[count + 2] = 'r', '1'
  count = count + 2
end
if count > 0 then redis.call('HSET', key, unpack(writes)) end
return open and string.format('%d', now) .. '|' .. open
`

/**
 * KEYS: hash. ARGV: for how long it was counted elsewhere, in microseconds (0: just now), then field, limit, period and
 * amount for each bucket. Adds what was used without a reservation; a bucket may be fuller than its limit then. Gives 0
 * when there is no hash: it is made from the ledger, and then has its days as well.
 */
export const addScript = `${levelNow}
local head = redis.call('HGET', KEYS[1], '@')
if not head then return 0 end
local lost, _, read_at = struct.unpack('ddd', head)
local now = clock()
local since = now - ARGV[1]
for i = 2, #ARGV, 4 do
  local limit, period = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  if period ~= 86400000000 or read_at <= since then
    local level = level_now(redis.call('HGET', KEYS[1], ARGV[i]), now, lost, limit, period)
    redis.call('HSET', KEYS[1], ARGV[i], struct.pack('dd', level + ARGV[i + 3], now))
  end
end
if tonumber(ARGV[1]) > 0 then redis.call('HSET', KEYS[1], 'r', '1') end
return 1
`

/**
 * KEYS: hash. ARGV: whether buckets were lost (1 or 0), hash lifetime in seconds, when the ledger was read in microseconds
 * (empty: now), number of levels, then field and level for each, then reservation id and its text for each that was open.
 * Makes the hash unless somebody has just made it.
 */
export const openScript = `${clockText}
local key = KEYS[1]
if redis.call('EXISTS', key) == 1 then return 0 end
local now = clock()
local read_at = tonumber(ARGV[3]) or now
local writes = { '@', struct.pack('ddd', ARGV[1] == '1' and now or 0, now, read_at), 'r', '1' }
local levels = tonumber(ARGV[4])
local set = function()
  redis.call('HSET', key, unpack(writes))
  writes = {}
end
for i = 5, 4 + 2 * levels, 2 do
  writes[#writes + 1] = ARGV[i]
  writes[#writes + 1] = struct.pack('dd', tonumber(ARGV[i + 1]), now)
  if #writes >= 1000 then set() end
end
for i = 5 + 2 * levels, #ARGV, 2 do
  writes[#writes + 1] = 'o:' .. ARGV[i]
  writes[#writes + 1] = string.format('%d', now) .. '|' .. ARGV[i + 1]
  if #writes >= 1000 then set() end
end
if #writes > 0 then set() end
redis.call('EXPIRE', key, ARGV[2])
return 1
`

/**
 * KEYS: hash. ARGV: when the ledger was about to be read in microseconds, then field and level for each bucket of requests
 * a day and of spend. Sets them to what the ledger has, unless one was changed since: then the ledger may know more, or less.
 */
export const recountScript = `${clockText}
local key, read_at = KEYS[1], tonumber(ARGV[1])
if redis.call('HEXISTS', key, 'r') == 0 then return 0 end
local levels, kept = {}, {}
for i = 2, #ARGV, 2 do levels[ARGV[i]] = tonumber(ARGV[i + 1]) end
for _, field in ipairs(redis.call('HKEYS', key)) do
  local kind = string.sub(field, 1, 2)
  if kind == 'o:' then return 0 end
  if kind ~= 't:' and (string.find(field, 'RPD:') or string.find(field, 'spend:')) then
    local _, at = struct.unpack('dd', redis.call('HGET', key, field))
    if at >= read_at then return 0 end
    levels[field] = levels[field] or 0
  end
end
local now = clock()
for field, level in pairs(levels) do redis.call('HSET', key, field, struct.pack('dd', level, now)) end
redis.call('HDEL', key, 'r')
return 1
`
