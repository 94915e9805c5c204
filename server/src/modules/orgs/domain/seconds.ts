/** The wire counts whole seconds. */
export const seconds = (at: Date): number => Math.floor(at.getTime() / 1_000)

export const secondsOrNull = (at: Date | null): number | null => (at === null ? null : seconds(at))
