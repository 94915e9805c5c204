/** Does `total` things, at most `atOnce` of them at a time, and gives the results in order. */
export async function inLanes<Result>(
  total: number,
  atOnce: number,
  doOne: (index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const lane = async () => {
    while (next < total) {
      const index = next
      next += 1
      results[index] = await doOne(index)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, total) }, lane))
  return results
}
