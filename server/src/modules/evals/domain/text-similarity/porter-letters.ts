/** Neither a, e, i, o, u, nor a `y` after a consonant. */
export function isConsonant(word: string, index: number): boolean {
  let at = index
  // A run of `y` alternates, from what stands before it.
  while (at > 0 && word[at] === 'y') at--
  const turns = (index - at) % 2
  return isVowel(word, at) === (turns === 1)
}

/** How often a consonant follows a vowel: m of the paper. */
export function measure(stem: string): number {
  let changes = 0
  let consonant = false
  for (let index = 0; index < stem.length; index++) {
    const next: boolean = stem[index] === 'y' ? !consonant : !isVowel(stem, index)
    if (next && !consonant && index > 0) changes++
    consonant = next
  }
  return changes
}

export function containsVowel(stem: string): boolean {
  return /[aeiou]|[^aeiou]y/.test(stem)
}

/** `*d` of the paper: ends in a double consonant. */
export function endsDouble(stem: string): boolean {
  return stem.length >= 2 && stem.at(-1) === stem.at(-2) && isConsonant(stem, stem.length - 1)
}

/** `*o` of the paper: ends consonant, vowel, consonant other than w, x, y; with NLTK also a whole stem of vowel, consonant. */
export function endsShort(stem: string): boolean {
  const last = stem.length - 1
  if (last < 1 || !isConsonant(stem, last) || isConsonant(stem, last - 1)) return false
  return last === 1 || (isConsonant(stem, last - 2) && !/[wxy]$/.test(stem))
}

function isVowel(word: string, index: number): boolean {
  const letter = word[index]
  return letter === 'a' || letter === 'e' || letter === 'i' || letter === 'o' || letter === 'u'
}
