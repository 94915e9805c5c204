-- Tiers, limits, the ledger of usage, and why requests were admitted or refused.
create schema limits;

-- What an organisation has earned. One without a row has paid nothing.
create table limits.organization (
  org_id text primary key,
  -- As it was last evaluated; `none` outside the allowed regions.
  tier text not null check (tier in ('none', 'free', 'tier_1', 'tier_2', 'tier_3', 'tier_4', 'tier_5')),
  -- Set by the operator instead of what payments earn; `unlimited` has no limits at all.
  pinned_tier text check (pinned_tier in ('unlimited', 'free', 'tier_1', 'tier_2', 'tier_3', 'tier_4', 'tier_5')),
  -- When its buckets were last made anew in the cache: from then on it is known whether they were lost.
  opened_at timestamptz
);

create table limits.payment (
  id text collate "C" primary key,
  org_id text not null,
  amount_cents bigint not null check (amount_cents > 0),
  currency text not null,
  reference text not null,
  paid_at timestamptz not null default clock_timestamp(),
  unique (org_id, reference)
);

-- Lower limits of a project, by limit group: a family of models, or a model with limits of its own. Null: as the organisation.
create table limits.project_limit (
  project_id text not null,
  limit_group text not null,
  org_id text not null,
  requests_per_minute bigint,
  requests_per_day bigint,
  tokens_per_minute bigint,
  tokens_per_day bigint,
  images_per_minute bigint,
  audio_minutes_per_minute bigint,
  batch_queue_tokens bigint,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (project_id, limit_group)
);

-- Monthly limits that the organisation sets itself; an empty project stands for all of it.
create table limits.spend_limit (
  org_id text not null,
  project_id text not null default '',
  threshold_cents bigint not null check (threshold_cents > 0),
  created_at timestamptz not null default clock_timestamp(),
  primary key (org_id, project_id)
);

-- The ledger: one row for each model call, written with the work it measures. Ids sort by time; nobody looks for one,
-- so they have no index of their own, which every model call would pay for.
create table limits.usage (
  id text collate "C" not null,
  at timestamptz not null default clock_timestamp(),
  org_id text not null,
  project_id text not null,
  key_id text,
  request_id text not null,
  -- Which model call of the request: each has a reservation of its own.
  turn integer not null,
  -- What the call was for: responses, chat_completions, completions.
  operation text not null,
  model text not null,
  batch boolean not null,
  outcome text not null check (outcome in ('completed', 'interrupted')),
  input_tokens bigint not null,
  cached_tokens bigint not null,
  output_tokens bigint not null,
  -- Billionths of a US dollar.
  cost_nanos bigint not null
) partition by range (id);
create index usage_of_organization on limits.usage (org_id, at);
create index usage_of_request on limits.usage (request_id);
create table limits.usage_other partition of limits.usage default;

-- Why a request was admitted or refused, and what was settled afterwards. Written in batches, a second behind.
create table limits.decision (
  id text collate "C" not null,
  at timestamptz not null,
  request_id text not null,
  org_id text not null,
  project_id text not null,
  kind text not null check (kind in ('admitted', 'refused', 'settled', 'released')),
  detail json not null
) partition by range (id);
create index decision_of_request on limits.decision (request_id);
create index decision_of_organization on limits.decision (org_id, at);
create table limits.decision_other partition of limits.decision default;
