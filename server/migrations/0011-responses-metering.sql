-- Who a response is charged to, and which request reserved for it.
alter table responses.running
  add column org_id text,
  add column key_id text,
  add column request_id text,
  -- Whether it was let in by limits, and so has reservations to settle.
  add column limited boolean not null default false,
  add column batch boolean not null default false,
  -- The attempt that committed the last step: later ones that did not were cut off.
  add column committed_attempt integer not null default 0;
