import type { EvalRunStatus } from '@switchyard/contracts/evals/runs.ts'
import type { ColumnType, Generated } from 'kysely'
import type { Totals } from '../domain/totals.ts'

/** Set by the database unless given. */
type DefaultTimestamp = ColumnType<Date, Date | undefined, Date>
type Timestamp = ColumnType<Date | null, Date | null | undefined, Date | null>
type Json<Value> = ColumnType<Value, string, string>
type JsonOrNull<Value> = ColumnType<Value | null, string | null | undefined, string | null>

/** Why a run or one of its rows did not come to an end. */
export interface Reason {
  readonly code: string
  readonly message: string
}

export interface EvalsTables {
  'evals.eval': {
    id: string
    org_id: string
    project_id: string
    name: string
    metadata: Json<Record<string, string>>
    data_source_config: Json<Record<string, unknown>>
    testing_criteria: Json<readonly Record<string, unknown>[]>
    created_at: DefaultTimestamp
    updated_at: DefaultTimestamp
    deleted_at: Timestamp
  }
  'evals.run': {
    id: string
    eval_id: string
    org_id: string
    project_id: string
    key_id: string
    name: string
    metadata: Json<Record<string, string>>
    model: string | null
    data_source: Json<Record<string, unknown>>
    status: Generated<EvalRunStatus>
    error: JsonOrNull<Reason>
    created_at: DefaultTimestamp
    started_at: Timestamp
    ended_at: Timestamp
    loaded: Generated<boolean>
    load_submitted: Generated<boolean>
    rows_total: Generated<number>
    totals: JsonOrNull<Totals>
    attempt: Generated<number>
    generation: Generated<number>
    stalls: Generated<number>
    moved_at: DefaultTimestamp
    deleted_at: Timestamp
  }
  'evals.row': {
    run_id: string
    n: number
    item: Json<Record<string, unknown>>
    sample: JsonOrNull<Record<string, unknown>>
    error: JsonOrNull<Reason>
  }
  'evals.chunk': {
    run_id: string
    n: number
    project_id: string
    first_row: number
    last_row: number
    status: Generated<'waiting' | 'submitted' | 'done'>
    attempt: Generated<number>
    generation: Generated<number>
    stalls: Generated<number>
    moved_at: DefaultTimestamp
    totals: JsonOrNull<Totals>
  }
  'evals.result': {
    run_id: string
    n: number
    status: 'pass' | 'fail' | 'error'
    created_at: DefaultTimestamp
    passed: (boolean | null)[]
    sample: Json<Record<string, unknown>>
    results: Json<readonly Record<string, unknown>[]>
    usage: Json<readonly [model: string, calls: number, prompt: number, completion: number, cached: number][]>
  }
}
