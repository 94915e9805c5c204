-- Responses, their items and events, and conversations.
create schema responses;

-- Written when a response is accepted and when it ends; what it does in between is in `running`.
-- Ids sort by time, so a day is a range of ids: old days go as whole partitions, and a lookup by id prunes.
create table responses.response (
  id text collate "C" not null,
  project_id text not null,
  created_at timestamptz not null default clock_timestamp(),
  -- The request with its defaults filled in, without any secret.
  asked json not null,
  background boolean not null,
  previous_id text collate "C",
  conversation_id text collate "C",
  -- Null while it runs.
  ended_status text check (ended_status in ('completed', 'failed', 'incomplete', 'cancelled')),
  ended_at timestamptz,
  error json,
  incomplete_reason text,
  usage json,
  primary key (id)
) partition by range (id);
create table responses.response_other partition of responses.response default;

-- The input of a response, then its output, in order.
create table responses.item (
  response_id text collate "C" not null,
  position integer not null,
  is_output boolean not null,
  project_id text not null,
  id text not null,
  item json not null,
  primary key (response_id, position)
) partition by range (response_id);
create index item_by_id on responses.item (project_id, id);
create table responses.item_other partition of responses.item default;

-- Numbered events of background responses, several to a row, one JSON text a line.
create table responses.event (
  response_id text collate "C" not null,
  first integer not null,
  last integer not null,
  lines text not null,
  primary key (response_id, first)
) partition by range (response_id);
create table responses.event_other partition of responses.event default;

-- Only what has not ended. A conversation is locked exactly while a row here names it.
create table responses.running (
  id text collate "C" primary key,
  project_id text not null,
  conversation_id text collate "C" unique,
  background boolean not null,
  -- Foreground: the process that works on it.
  node text,
  status text not null check (status in ('queued', 'in_progress')),
  created_at timestamptz not null default clock_timestamp(),
  -- Background: false while it waits for its project's other responses.
  submitted boolean not null default true,
  step integer not null default 0,
  attempt integer not null default 0,
  generation integer not null default 0,
  stalls integer not null default 0,
  moved_at timestamptz not null default clock_timestamp(),
  -- As of the last step that was committed.
  next_number integer not null default 0,
  next_output_index integer not null default 0,
  usage json
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index running_moving on responses.running (moved_at) where background and submitted;
create index running_of_project on responses.running (project_id, submitted, created_at) where background;
create index running_of_node on responses.running (node) where node is not null;

-- Processes that hold foreground responses. One that does not renew in time has lost them.
create table responses.node (
  id text primary key,
  alive_until timestamptz not null
);

create table responses.conversation (
  id text collate "C" primary key,
  project_id text not null,
  created_at timestamptz not null default clock_timestamp(),
  metadata json not null
);

create table responses.conversation_item (
  conversation_id text collate "C" not null,
  position bigint not null,
  id text not null,
  item json not null,
  primary key (conversation_id, position)
);
create unique index conversation_item_by_id on responses.conversation_item (conversation_id, id);
