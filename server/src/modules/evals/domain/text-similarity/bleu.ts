import { sharedRuns } from './shared-runs.ts'
import { tokenize13a } from './tokenize-13a.ts'

const RUN_MAX = 4

/**
 * sacrebleu `sentence_bleu` / 100: tokenizer 13a, case kept, exponential smoothing, effective order (runs longer than the
 * input do not count against it).
 */
export function bleu(input: string, reference: string): number {
  const inputWords = tokenize13a(input)
  const referenceWords = tokenize13a(reference)
  const runs = sharedRuns(inputWords, referenceWords, RUN_MAX).filter((counted) => counted.input > 0)
  if (runs.every((counted) => counted.shared === 0)) return 0

  let halvings = 1
  let logs = 0
  for (const counted of runs) {
    if (counted.shared === 0) halvings *= 2
    const shared = counted.shared === 0 ? 1 / halvings : counted.shared
    logs += Math.log(shared / counted.input)
  }
  const brevity =
    inputWords.length < referenceWords.length ? Math.exp(1 - referenceWords.length / inputWords.length) : 1
  return brevity * Math.exp(logs / runs.length)
}
