import type { SimilarityMetric } from '@switchyard/contracts/evals/graders.ts'
import { bleu } from './bleu.ts'
import { cosine } from './cosine.ts'
import { fuzzyMatch } from './fuzzy-match.ts'
import { gleu } from './gleu.ts'
import { meteor } from './meteor.ts'
import { rougeL, rougeN } from './rouge.ts'
import { refuseLongText } from './text-bounds.ts'

/** How alike two texts are, from 0 to 1. docs/reference/text-similarity.md says what each metric computes. */
export function similarity(metric: SimilarityMetric, input: string, reference: string): number {
  refuseLongText('input', input)
  refuseLongText('reference', reference)
  // Rounding may carry a perfect score past 1, which a threshold of 1 or an average would show.
  return Math.min(1, Math.max(0, scoreOf(metric, input, reference)))
}

function scoreOf(metric: SimilarityMetric, input: string, reference: string): number {
  switch (metric) {
    case 'cosine':
      return cosine(input, reference)
    case 'fuzzy_match':
      return fuzzyMatch(input, reference)
    case 'bleu':
      return bleu(input, reference)
    case 'gleu':
      return gleu(input, reference)
    case 'meteor':
      return meteor(input, reference)
    case 'rouge_1':
      return rougeN(input, reference, 1)
    case 'rouge_2':
      return rougeN(input, reference, 2)
    case 'rouge_3':
      return rougeN(input, reference, 3)
    case 'rouge_4':
      return rougeN(input, reference, 4)
    case 'rouge_5':
      return rougeN(input, reference, 5)
    case 'rouge_l':
      return rougeL(input, reference)
  }
}
