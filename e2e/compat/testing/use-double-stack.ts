import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { writeDoubleModels } from '../../../server/test/double-models.ts'
import { startProviderDouble, type ProviderDouble } from '../../../server/test/provider-double.ts'
import { useStack, type RunningStack } from './use-stack.ts'

export interface DoubleStack {
  stack(): RunningStack
  /** Answers for the models `double-chat`, `double-responses` and `double-anthropic`. */
  double(): ProviderDouble
}

/** One stack for the tests of a file, with a scripted provider behind its models. */
export function useDoubleStack(more: () => Promise<Readonly<Record<string, string>>> = async () => ({})): DoubleStack {
  let double: ProviderDouble | null = null
  let folder: string | null = null
  const stack = useStack(undefined, async () => {
    double = await startProviderDouble()
    folder = await mkdtemp(join(tmpdir(), 'switchyard-double-'))
    return { SWITCHYARD_MODELS: await writeDoubleModels(folder, double.url), ...(await more()) }
  })
  after(async () => {
    await double?.close()
    if (folder !== null) await rm(folder, { recursive: true, force: true })
  })
  return {
    stack,
    double() {
      if (double === null) throw new Error('the double is there only while tests run')
      return double
    },
  }
}
