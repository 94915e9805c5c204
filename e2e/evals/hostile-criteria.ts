import { refused, rowError, rowOk, type Expected, type HostileInput } from './hostile-input.ts'

const wrong = (field: string) => refused(new RegExp(`testing_criteria\\[0\\]\\.?${field}`))
const tooLong = rowError(/Shorten the texts or use another metric/)

const check = { type: 'string_check', name: 'c', input: '{{ item.a }}', reference: '{{ item.b }}', operation: 'eq' }
const similar = {
  type: 'text_similarity',
  name: 's',
  input: '{{ item.a }}',
  reference: '{{ item.b }}',
  evaluation_metric: 'bleu',
  pass_threshold: 0,
}
const message = { role: 'user', content: '{{ item.a }}' }
const score = { type: 'score_model', name: 'm', model: 'no-such-model', input: [message] }
const label = { ...score, type: 'label_model', labels: ['good', 'bad'], passing_labels: ['good'] }

type Item = Record<string, unknown>
type Written = [name: string, oneOrMany: unknown, expected: Expected, item?: () => Item]

const shapes: Written[] = [
  ['null', null, wrong('')],
  ['a text', 'string_check', wrong('')],
  ['no type', { ...check, type: undefined }, wrong('')],
  ['a type nobody knows', { ...check, type: 'shell' }, wrong('')],
  ['a type that objects inherit', { ...check, type: 'constructor' }, wrong('')],
  ['no name', { ...check, name: undefined }, wrong('name')],
  ['an empty name', { ...check, name: '' }, wrong('name')],
  ['a name of 1,000 letters', { ...check, name: 'x'.repeat(1_000) }, wrong('name')],
  ['an operation nobody knows', { ...check, operation: 'regex' }, wrong('operation')],
  ['an operation that objects inherit', { ...check, operation: '__proto__' }, wrong('operation')],
  ['a field nobody knows', { ...check, eval: 'process.exit()' }, wrong('')],
  ['an input that is an object', { ...check, input: { $ref: '#' } }, wrong('input')],
  ['a metric nobody knows', { ...similar, evaluation_metric: 'rouge_9' }, wrong('evaluation_metric')],
  ['no threshold', { ...similar, pass_threshold: undefined }, wrong('pass_threshold')],
  ['a threshold that is a text', { ...similar, pass_threshold: '0.5' }, wrong('pass_threshold')],
  ['several in one', { type: 'multi', name: 'm', graders: { a: check }, calculate_output: 'a' }, wrong('')],
  ['a model nobody has', score, refused(/model_not_found/)],
  ['a range from high to low', { ...score, range: [1, 0] }, wrong('range')],
  ['a threshold out of range', { ...score, pass_threshold: 7 }, wrong('pass_threshold')],
  ['no messages', { ...score, input: [] }, wrong('input')],
  ['300 messages', { ...score, input: Array.from({ length: 300 }, () => message) }, wrong('input')],
  ['a role nobody has', { ...score, input: [{ role: 'root', content: 'x' }] }, wrong('input')],
  ['labels that are not there', { ...label, passing_labels: ['fine'] }, wrong('passing_labels')],
  ['a label twice', { ...label, labels: ['good', 'good'] }, wrong('labels')],
]

const long = (chars: number) => () => ({ a: 'ab '.repeat(chars / 3), b: 'ba '.repeat(chars / 3) })
const different = (chars: number) => () => ({ a: 'a'.repeat(chars), b: 'b'.repeat(chars) })

const words = (step: number) => Array.from({ length: 19_000 }, (_, n) => `w${(n * step) % 19_001}`).join(' ')
const stretch = `${'a'.repeat(500_000)}b${'a'.repeat(500_000)}`

const heavy: Written[] = [
  [
    '100 of rouge_l over 19,000 words',
    Array.from({ length: 100 }, (_, n) => ({ ...similar, name: `s${n}`, evaluation_metric: 'rouge_l' })),
    rowOk,
    () => ({ a: words(7), b: words(11) }),
  ],
  [
    'like with megabytes that repeat themselves',
    { ...check, operation: 'like' },
    rowOk,
    () => ({ a: 'a'.repeat(1_000_000) + stretch, b: stretch }),
  ],
  ...['cosine', 'fuzzy_match', 'bleu', 'gleu', 'meteor', 'rouge_1', 'rouge_5', 'rouge_l'].map((metric): Written => [
    `${metric} over 300,000 letters`,
    { ...similar, evaluation_metric: metric },
    tooLong,
    long(300_000),
  ]),
  [
    'fuzzy_match of 100,000 letters with others',
    { ...similar, evaluation_metric: 'fuzzy_match' },
    tooLong,
    different(100_000),
  ],
  ['rouge_l of 60,000 words', { ...similar, evaluation_metric: 'rouge_l' }, tooLong, long(180_000)],
  ['similarity of nothing with nothing', similar, rowOk, () => ({ a: '', b: '' })],
  [
    'similarity of half characters',
    { ...similar, evaluation_metric: 'fuzzy_match' },
    rowOk,
    () => ({ a: '\ud800', b: '\udc00\u0000' }),
  ],
  [
    'like with what a pattern would be',
    { ...check, operation: 'like' },
    rowOk,
    () => ({ a: 'x%_.*(a+)+$', b: '%_.*(a+)+$' }),
  ],
  ['ilike with letters that grow', { ...check, operation: 'ilike' }, rowOk, () => ({ a: 'İSTANBUL ß', b: 'i̇stanbul' })],
  ['ne of NUL and nothing', { ...check, operation: 'ne' }, rowOk, () => ({ a: '\u0000', b: '' })],
]

export const hostileCriteria: readonly HostileInput[] = [...shapes, ...heavy].map(
  ([name, oneOrMany, expected, item = () => ({ a: 'x', b: 'x' })]) => ({
    name: `criterion: ${name}`,
    kind: 'criterion',
    criteria: [oneOrMany].flat(),
    item,
    ...expected,
  }),
)
