/** Values of several sources as they come, of at most `atOnce` at a time; those further back wait their turn. */
export async function* interleave<Value>(
  sources: readonly (() => AsyncIterable<Value>)[],
  atOnce: number,
): AsyncGenerator<Value, void, void> {
  interface Pulled {
    readonly from: AsyncIterator<Value>
    readonly next: IteratorResult<Value, unknown>
  }
  const waiting = new Map<AsyncIterator<Value>, Promise<Pulled>>()
  const pull = (from: AsyncIterator<Value>) => {
    waiting.set(
      from,
      from.next().then((next) => ({ from, next })),
    )
  }
  let begun = 0
  const begin = () => {
    const source = sources[begun]
    begun += 1
    if (source !== undefined) pull(source()[Symbol.asyncIterator]())
  }
  try {
    while (begun < Math.min(atOnce, sources.length)) begin()
    while (waiting.size > 0) {
      const { from, next } = await Promise.race(waiting.values())
      if (next.done === true) {
        waiting.delete(from)
        begin()
        continue
      }
      yield next.value
      pull(from)
    }
  } finally {
    // After one failed, the others' failures concern nobody.
    for (const [from, pulled] of waiting) {
      pulled.catch(() => undefined)
      from.return?.()?.then(undefined, () => undefined)
    }
  }
}
