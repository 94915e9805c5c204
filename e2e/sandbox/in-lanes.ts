/** Does so many things, no more than a few at once. Results are in order. */
export async function inLanes<Result>(
  lanes: number,
  count: number,
  work: (index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const lane = async () => {
    while (next < count) {
      const at = next
      next += 1
      results[at] = await work(at)
    }
  }
  await Promise.all(Array.from({ length: Math.min(lanes, count) }, lane))
  return results
}
