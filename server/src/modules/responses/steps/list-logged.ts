import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { Response } from '@switchyard/contracts/responses/response.ts'
import type { Inference } from '#modules/inference/index.ts'
import type { Db } from '#platform/db/db.ts'
import { responseView } from '../domain/response-view.ts'
import { listLoggedStates, type LoggedFilter } from '../store/logged.ts'
import type { ResponsesTables } from '../store/tables.ts'

/** A stored response as a record of what was asked and answered. */
export interface LoggedResponse {
  readonly id: string
  readonly createdAt: Date
  /** Of this request alone: what an earlier response or its conversation brought is not repeated. */
  readonly input: readonly StoredItem[]
  readonly response: Response
}

/** Any name of a model counts as the snapshot that it stands for; one that has left the catalogue, as itself. */
export async function listLogged(
  use: { readonly db: Db<ResponsesTables>; readonly inference: Pick<Inference, 'findModel'> },
  projectId: string,
  filter: LoggedFilter,
  page: { readonly after: string | null; readonly limit: number },
): Promise<LoggedResponse[]> {
  const model = filter.model == null ? null : (use.inference.findModel(filter.model)?.id ?? filter.model)
  const logged = await listLoggedStates(use.db, projectId, { ...filter, model }, page)
  return logged.map(({ state, input }) => ({
    id: state.id,
    createdAt: state.createdAt,
    input,
    response: responseView(state),
  }))
}
