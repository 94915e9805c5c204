/** The rule of limits and estimates alike: four characters are a token. */
export const charsPerToken = 4
