/**
 * Every fault a caller can meet. Codes are never renamed or reused: people branch on them.
 * `docs/reference/errors.md` is printed from this table, one paragraph per code.
 */
export interface FaultEntry {
  readonly status: number
  readonly type: string
  /** What the paragraph in the docs says: when it happens, and what to do. */
  readonly doc: string
  /** Sent as `x-should-retry`: false, so that an SDK does not repeat what cannot succeed; true where waiting helps. */
  readonly retry?: boolean
  /** What goes over the wire as `code` where it is not the name itself. */
  readonly wireCode?: string | null
}

const entry = (status: number, type: string, doc: string, more: Pick<FaultEntry, 'retry' | 'wireCode'> = {}) =>
  ({ status, type, doc, ...more }) satisfies FaultEntry

const request = 'invalid_request_error'

export const faults = {
  invalid_json: entry(400, request, 'The body is not valid JSON. Send one JSON object in UTF-8.'),
  missing_required_parameter: entry(400, request, 'A required field is absent; `param` is its path.'),
  unknown_parameter: entry(
    400,
    request,
    'A field that this operation does not know. Nothing is ignored in silence: remove the field named in `param`, or check its spelling.',
  ),
  invalid_type: entry(400, request, 'A field has the wrong JSON type; `param` is its path.'),
  invalid_value: entry(400, request, 'A field has the right type but a value that is not allowed there.'),
  unsupported_value: entry(400, request, 'The value exists in the API but this server does not support it.'),
  string_below_min_length: entry(400, request, 'A string is shorter than allowed.'),
  string_above_max_length: entry(400, request, 'A string is longer than allowed.'),
  integer_below_min_value: entry(400, request, 'A number is below its minimum.'),
  integer_above_max_value: entry(400, request, 'A number is above its maximum.'),
  array_below_min_length: entry(400, request, 'A list has fewer elements than required.'),
  array_above_max_length: entry(400, request, 'A list has more elements than allowed.'),
  mutually_exclusive_parameters: entry(400, request, 'Two fields that exclude each other were both sent.'),
  invalid_multipart: entry(400, request, 'The multipart body is malformed, incomplete or has an unexpected part.'),
  upload_size_mismatch: entry(
    400,
    request,
    'The parts named in `part_ids` do not add up to the `bytes` announced when the upload was created.',
  ),
  checksum_mismatch: entry(400, request, 'The MD5 of the assembled parts is not the `md5` that was sent.'),
  upload_not_pending: entry(
    400,
    request,
    'The upload was already completed, cancelled or has expired, so it takes no more parts and cannot be completed.',
  ),
  container_expired: entry(
    400,
    request,
    'The container named in `environment.container_id` has expired or was lost with its host; its data is gone. Create another one.',
  ),
  domain_not_allowed: entry(
    400,
    request,
    'A domain of `allowed_domains` is not on the list of the organisation, which an administrator keeps at `/v1/organization/container_network_policy`. A request can only narrow that list.',
  ),
  invalid_skill: entry(
    400,
    request,
    'The archive of a skill cannot be used: it is unreadable, too large, has a path or link that leads out, or lacks a valid `SKILL.md`. The message says which.',
  ),
  secrets_not_allowed: entry(
    400,
    request,
    '`domain_secrets` are not taken where a request is stored before it runs. Send them with a request of its own.',
  ),
  webhook_test_failed: entry(
    400,
    request,
    'The test event could not be handed over: the address was refused, did not resolve, or gave no answer in time. The message says which.',
  ),
  context_length_exceeded: entry(
    400,
    request,
    'The input is longer than the model can read, and `truncation` is `disabled`. Shorten it, compact it, or send `truncation: auto`.',
  ),
  previous_response_not_found: entry(
    400,
    request,
    '`previous_response_id` names no stored response of this project. It may have been created with `store: false`, deleted, or have passed its retention.',
  ),
  unsupported_tool: entry(400, request, 'The tool exists in the API but not on this operation or this server.'),
  duplicate_tool: entry(400, request, 'Two tools of one request have the same name, or the request has two shells.'),
  invalid_encrypted_content: entry(
    400,
    request,
    'The `encrypted_content` of an item was not made by this server for this project, or was changed on the way.',
  ),
  stream_not_available: entry(
    400,
    request,
    'Only background responses keep their events. Ask for the response without `stream`, or create it with `background: true`.',
  ),
  websocket_connection_limit_reached: entry(
    400,
    request,
    'A WebSocket has reached the end of its lifetime. Open another one; what was stored can be continued there.',
  ),
  response_not_cancellable: entry(400, request, 'Only a response created with `background: true` can be cancelled.'),
  replay_too_large: entry(400, request, 'The span holds more events than one replay sends. Choose a shorter span.'),
  missing_api_key: entry(401, request, 'No `Authorization: Bearer <API_KEY>` header was sent. The wire code is null.', {
    wireCode: null,
  }),
  invalid_api_key: entry(
    401,
    request,
    'The key is unknown, revoked, expired, or of a kind that does not open this part of the API: project keys open `/v1`, admin keys open `/v1/organization`, ads keys open `/ads/v1`.',
  ),
  mismatched_organization: entry(
    401,
    request,
    'The `openai-organization` header names another organisation than the key.',
  ),
  mismatched_project: entry(401, request, 'The `openai-project` header names another project than the key.'),
  insufficient_permissions: entry(
    403,
    'permission_error',
    'The key is good but lacks the scope that the operation asks for; the message names the scope.',
  ),
  region_not_allowed: entry(
    403,
    'permission_error',
    'The organisation is outside the regions where it may start for free. A payment of 5 USD opens tier 1.',
  ),
  not_found: entry(
    404,
    request,
    'There is no such object or path. An object of another project does not exist for you and gives the same answer.',
  ),
  container_not_found: entry(
    404,
    request,
    'There is no such container. One of another project does not exist for you and gives the same answer.',
  ),
  container_gone: entry(
    404,
    request,
    'The container has expired: its files are gone. The wire code is `container_expired`.',
    {
      wireCode: 'container_expired',
    },
  ),
  model_not_found: entry(
    404,
    request,
    'No model of this name is in the catalogue. `GET /v1/models` lists what there is; the operator adds more in `models.yaml`.',
  ),
  method_not_allowed: entry(405, request, 'The path exists but not with this method; `allow` lists what it takes.'),
  request_timeout: entry(408, request, 'The request did not arrive completely in the time allowed.'),
  invalid_state_transition: entry(409, request, 'The object is not in a state that allows this.', { retry: false }),
  already_exists: entry(409, request, 'An object with this natural key is there already.', { retry: false }),
  conversation_locked: entry(
    409,
    request,
    'Another response is under way in this conversation. Ask again when it has ended; the SDK does so by itself.',
    { retry: true },
  ),
  idempotency_key_reused: entry(
    409,
    request,
    'The `Idempotency-Key` was used before with another body or another operation. Use a new key for a new request.',
    { retry: false },
  ),
  idempotency_key_in_use: entry(
    409,
    request,
    'A request with the same `Idempotency-Key` is still running. Asking again later returns its answer.',
  ),
  file_too_large: entry(413, request, 'The file or part is larger than allowed.'),
  request_too_large: entry(413, request, 'The request body is larger than this operation accepts.'),
  range_not_satisfiable: entry(416, request, 'The `Range` header asks for bytes that the file does not have.'),
  unsupported_media_type: entry(415, request, 'The `Content-Type` is not one that this operation reads.'),
  upgrade_required: entry(426, request, 'The path speaks WebSocket and nothing else with this method: upgrade.'),
  container_limit_exceeded: entry(
    429,
    'requests',
    'The project has as many active containers as it may have. Delete one, or let one expire.',
    { retry: false },
  ),
  rate_limit_exceeded: entry(
    429,
    'requests',
    'A limit on requests per minute or day is used up, or a model provider has too many of them; the message names the limit and `retry-after` says when to come back.',
    { retry: true },
  ),
  token_rate_limit_exceeded: entry(
    429,
    'tokens',
    'A limit on tokens per minute or day is used up; the message names it and `retry-after` says when to come back. The wire code is `rate_limit_exceeded`.',
    { retry: true, wireCode: 'rate_limit_exceeded' },
  ),
  image_rate_limit_exceeded: entry(
    429,
    'images',
    'The limit on images per minute is used up; `retry-after` says when to come back. The wire code is `rate_limit_exceeded`.',
    { retry: true, wireCode: 'rate_limit_exceeded' },
  ),
  audio_rate_limit_exceeded: entry(
    429,
    'audio',
    'The limit on audio minutes per minute is used up; `retry-after` says when to come back. The wire code is `rate_limit_exceeded`.',
    { retry: true, wireCode: 'rate_limit_exceeded' },
  ),
  request_above_limit: entry(
    429,
    'tokens',
    'This one request asks for more than the whole limit: waiting does not help. Shorten it, or ask for fewer tokens. The wire code is `rate_limit_exceeded`.',
    { retry: false, wireCode: 'rate_limit_exceeded' },
  ),
  insufficient_quota: entry(
    429,
    'insufficient_quota',
    'The monthly usage limit of the tier, or a spend limit, is reached. `GET /v1/organization/usage_tier` shows where the organisation stands.',
    { retry: false },
  ),
  internal_error: entry(
    500,
    'server_error',
    'Something went wrong on our side. The reply carries only the request id; the log has the rest under that id.',
  ),
  provider_error: entry(
    502,
    'server_error',
    'The model provider failed, answered with something unusable, or gave no answer in time. The message says which.',
  ),
  not_implemented: entry(501, request, 'The path belongs to the API but this server does not offer it.', {
    retry: false,
  }),
  server_overloaded: entry(
    503,
    'service_unavailable_error',
    'A part that this request needs is unavailable or busy; `retry-after` says when to try again.',
  ),
} as const satisfies Record<string, FaultEntry>

export type FaultCode = keyof typeof faults

export interface ErrorBody {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string | null
  }
}
