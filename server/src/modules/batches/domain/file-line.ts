/** A line with how it ended, as the store keeps it. All null: it was not done. */
export interface EndedLine {
  readonly custom_id: string
  readonly id: string | null
  readonly status_code: number | null
  readonly request_id: string | null
  /** JSON. */
  readonly body: string | null
}

const expired = { code: 'batch_expired', message: 'This request could not be carried out before the batch expired.' }

/** One line of an output or error file. `unfinishedId` names a line that has no result of its own. */
export function fileLine(line: EndedLine, unfinishedId: () => string): string {
  const error = line.id === null ? expired : null
  const head = JSON.stringify({ id: line.id ?? unfinishedId(), custom_id: line.custom_id })
  // The body is JSON already; to read and write it again would only cost.
  const response =
    line.body === null
      ? 'null'
      : `{"status_code":${line.status_code},"request_id":${JSON.stringify(line.request_id)},"body":${line.body}}`
  return `${head.slice(0, -1)},"response":${response},"error":${JSON.stringify(error)}}\n`
}
