import { containsVowel, endsDouble, endsShort, isConsonant, measure } from './porter-letters.ts'

/** The forms NLTK's stemmer knows by heart. */
const IRREGULAR = new Map([
  ['sky', 'sky'],
  ['skies', 'sky'],
  ['dying', 'die'],
  ['lying', 'lie'],
  ['tying', 'tie'],
  ['news', 'news'],
  ['innings', 'inning'],
  ['inning', 'inning'],
  ['outings', 'outing'],
  ['outing', 'outing'],
  ['cannings', 'canning'],
  ['canning', 'canning'],
  ['howe', 'howe'],
  ['proceed', 'proceed'],
  ['exceed', 'exceed'],
  ['succeed', 'succeed'],
])

/** Only the first ending that fits is tried. */
type Endings = readonly (readonly [ending: string, instead: string])[]

const STEP_2: Endings = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['fulli', 'ful'],
]

const STEP_3: Endings = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]

const STEP_4 = 'al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize'.split(' ')

/**
 * The stem of a lower-case word as NLTK's `PorterStemmer` finds it: Porter (1980) with NLTK's own extensions, which stem
 * `dies` to `die` and keep `enjoy`. A word with characters outside the Basic Multilingual Plane stays as it is.
 */
export function porterStem(word: string): string {
  const irregular = IRREGULAR.get(word)
  if (irregular !== undefined) return irregular
  if (word.length <= 2 || /[\ud800-\udfff]/.test(word)) return word
  let stem = dropPlural(word)
  stem = dropPast(stem)
  stem = stem.length > 2 && stem.endsWith('y') && isConsonant(stem, stem.length - 2) ? `${cut(stem, 'y')}i` : stem
  stem = shortenSuffix(stem)
  stem = replaceEnding(stem, STEP_3)
  stem = dropEnding(stem)
  stem = dropE(stem)
  return stem.endsWith('ll') && measure(stem.slice(0, -1)) > 1 ? stem.slice(0, -1) : stem
}

/** Step 1a. */
function dropPlural(word: string): string {
  if (word.endsWith('ies')) return cut(word, word.length === 4 ? 's' : 'es')
  if (word.endsWith('sses')) return cut(word, 'es')
  return word.endsWith('s') && !word.endsWith('ss') ? cut(word, 's') : word
}

/** Step 1b. */
function dropPast(word: string): string {
  if (word.endsWith('ied')) return cut(word, word.length === 4 ? 'd' : 'ed')
  if (word.endsWith('eed')) return measure(cut(word, 'eed')) > 0 ? cut(word, 'd') : word
  const ending = ['ed', 'ing'].find((each) => word.endsWith(each))
  if (ending === undefined || !containsVowel(cut(word, ending))) return word
  const stem = cut(word, ending)
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`
  if (endsDouble(stem)) return /[lsz]$/.test(stem) ? stem : stem.slice(0, -1)
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem
}

/** Step 2. `alli` comes before all other endings and is followed by another look; `logi` leaves its `l` with the stem. */
function shortenSuffix(word: string): string {
  if (word.endsWith('alli') && measure(cut(word, 'alli')) > 0) return replaceEnding(cut(word, 'li'), STEP_2)
  if (word.endsWith('logi')) return measure(cut(word, 'ogi')) > 0 ? cut(word, 'i') : word
  return replaceEnding(word, STEP_2)
}

/** Step 4. */
function dropEnding(word: string): string {
  const ending = STEP_4.find((each) => word.endsWith(each))
  if (ending === undefined) return word
  const stem = cut(word, ending)
  return measure(stem) > 1 && (ending !== 'ion' || /[st]$/.test(stem)) ? stem : word
}

/** Step 5a. */
function dropE(word: string): string {
  if (!word.endsWith('e')) return word
  const stem = cut(word, 'e')
  const syllables = measure(stem)
  return syllables > 1 || (syllables === 1 && !endsShort(stem)) ? stem : word
}

function replaceEnding(word: string, endings: Endings): string {
  for (const [ending, instead] of endings) {
    if (!word.endsWith(ending)) continue
    const stem = cut(word, ending)
    return measure(stem) > 0 ? stem + instead : word
  }
  return word
}

function cut(word: string, ending: string): string {
  return word.slice(0, word.length - ending.length)
}
