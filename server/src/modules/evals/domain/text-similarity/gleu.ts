import { sharedRuns } from './shared-runs.ts'
import { tokenize13a } from './tokenize-13a.ts'

const RUN_MAX = 4

/** NLTK `sentence_gleu` over runs of 1 to 4 words of tokenizer 13a: shared runs / runs of the text that has more. */
export function gleu(input: string, reference: string): number {
  const total = { input: 0, reference: 0, shared: 0 }
  for (const counted of sharedRuns(tokenize13a(input), tokenize13a(reference), RUN_MAX)) {
    total.input += counted.input
    total.reference += counted.reference
    total.shared += counted.shared
  }
  const most = Math.max(total.input, total.reference)
  return most === 0 ? 0 : total.shared / most
}
