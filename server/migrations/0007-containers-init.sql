-- Hosts, containers and what left them over the network.
create schema if not exists containers;

-- A machine that runs containers. It is alive while it keeps saying so.
create table containers.host (
  id text primary key,
  url text not null,
  -- What it may promise to containers, and whether it takes new ones.
  memory_bytes bigint not null,
  accepting boolean not null default true,
  seen_at timestamptz not null default clock_timestamp()
);

-- A container of the API. `host_id` is the owner: the machine with its data, once there is one.
create table containers.container (
  id text collate "C" primary key,
  project_id text not null,
  org_id text not null,
  name text not null,
  -- reserved: made for a response that has not run a command yet; nobody else knows of it.
  status text not null check (status in ('reserved', 'active', 'expired', 'deleted')),
  status_reason text,
  -- The response that it was made for, when one was.
  response_id text,
  memory_limit text not null,
  memory_bytes bigint not null,
  expires_minutes integer not null,
  created_at timestamptz not null default clock_timestamp(),
  last_active_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  -- Domains of the request; null when there is no network.
  allowed_domains text[],
  -- Domain and name of each secret. Values are in the memory of one host and nowhere else.
  secrets json not null default '[]',
  -- What is put in place when the machine starts: skills with their versions pinned, files, and blobs of inline content.
  skills json not null default '[]',
  files json not null default '[]',
  inline_blobs text[] not null default '{}',
  host_id text references containers.host,
  -- Its data is known to be gone.
  cleared_at timestamptz
);
create index container_of_project on containers.container (project_id, id) where status in ('active', 'expired');
create index container_due on containers.container (expires_at) where status = 'active';
create index container_reserved on containers.container (created_at) where status = 'reserved';
create index container_of_host on containers.container (host_id) where cleared_at is null;
create index container_to_clear on containers.container (id)
  where status in ('expired', 'deleted') and cleared_at is null;
create index container_to_forget on containers.container (cleared_at) where cleared_at is not null;

-- Who was reached, or refused. Never a path, a header or a value.
create table containers.egress_receipt (
  container_id text collate "C" not null,
  id text collate "C" not null,
  at timestamptz not null,
  host text not null,
  port integer not null,
  verdict text not null,
  reason text,
  bytes_in bigint not null,
  bytes_out bigint not null,
  primary key (container_id, id)
);
