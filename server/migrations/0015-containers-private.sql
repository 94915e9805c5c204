-- A container that was opened by a part of the product for its own work: its project neither sees it nor has it counted.
alter table containers.container add column private boolean not null default false;
