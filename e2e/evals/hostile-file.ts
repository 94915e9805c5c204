import { toFile, type OpenAI } from 'openai'
import { lineEval, type HostileInput } from './hostile-input.ts'
import { beginRun, createEval, judgeRun, sound, type AwaitedRow, type Verdict } from './hostile-runs.ts'

export type HostileLineInput = Extract<HostileInput, { kind: 'line' }>

const good = '{"item":{"a":"a good neighbour"}}'

/** One file of all the lines with a sound one after each, and one run over it. */
export async function playLines(client: OpenAI, inputs: readonly HostileLineInput[]): Promise<Verdict[]> {
  const parts: Uint8Array[] = []
  const awaited: AwaitedRow[] = []
  const add = (line: string | Uint8Array) => parts.push(Buffer.from(line as string), Buffer.from('\n'))
  for (const input of inputs) {
    add(input.line())
    for (let row = 0; row < (input.rows ?? 1); row += 1) awaited.push({ name: input.name, expected: input })
    add(good)
    awaited.push({ name: `${input.name}: the line after it`, expected: sound })
  }
  const file = await client.files.create({
    file: await toFile(Buffer.concat(parts), 'hostile.jsonl'),
    purpose: 'evals',
  })
  const { itemSchema: schema, criterion } = lineEval
  const evalId = await createEval(
    client,
    JSON.stringify({
      name: 'hostile lines',
      data_source_config: { type: 'custom', item_schema: schema },
      testing_criteria: [criterion],
    }),
  )
  const runId = await beginRun(client, evalId, JSON.stringify({ type: 'file_id', id: file.id }))
  return withTrueLines(await judgeRun(client, { evalId, runId }, awaited))
}

/** Every row is one line, so a reason has to name the row's own. Verdicts are in the order of the rows. */
function withTrueLines(verdicts: readonly Verdict[]): Verdict[] {
  return verdicts.map((verdict, at) => {
    const line = /\bLine (\d+):/.exec(verdict.said)?.[1]
    const strays = line !== undefined && Number(line) !== at + 1
    return strays && verdict.wrong === null ? { ...verdict, wrong: `it is line ${at + 1}` } : verdict
  })
}
