/** One stanza of apt's sources, in the form of a .sources file: field names as keys in lower case. */
export type AptSource = Map<string, string>

const ONE_LINE = /^deb\s+(?:\[(?<options>[^\]]*)\]\s+)?(?<uri>\S+)\s+(?<suite>\S+)\s+(?<components>[^#]+)/

/** Reads a .list file: one source per line. */
export function parseOneLineSources(text: string): AptSource[] {
  return text.split('\n').flatMap((line) => {
    const parts = ONE_LINE.exec(line.trim())?.groups
    if (parts === undefined) return []
    const source: AptSource = new Map([
      ['types', 'deb'],
      ['uris', parts['uri'] ?? ''],
      ['suites', parts['suite'] ?? ''],
      ['components', (parts['components'] ?? '').trim()],
    ])
    const options = new Map((parts['options'] ?? '').split(/\s+/).map((option) => splitOnce(option, '=')))
    const signedBy = options.get('signed-by')
    if (signedBy !== undefined) source.set('signed-by', signedBy)
    const trusted = options.get('trusted')
    if (trusted !== undefined) source.set('trusted', trusted)
    return [source]
  })
}

/** Reads a .sources file: stanzas of fields, where a line that begins with a blank continues the field above. */
export function parseStanzaSources(text: string): AptSource[] {
  const withoutComments = text.split('\n').filter((line) => !line.startsWith('#'))
  const stanzas = withoutComments.join('\n').split(/\n\s*\n/)
  return stanzas.map(parseStanza).filter((source) => source.has('uris') && source.get('enabled') !== 'no')
}

function parseStanza(text: string): AptSource {
  const fields = text.split(/\n(?=\S)/).filter((field) => field.trim() !== '')
  return new Map(
    fields.map((field) => {
      const [name, value] = splitOnce(field, ':')
      return [name.trim().toLowerCase(), value.trim()]
    }),
  )
}

/**
 * The distribution's own sources among all that a machine has, with the backports of its release added. Sources of
 * third parties are left out: we need nothing from them, and one that does not answer must not stop us.
 */
export function distributionSources(sources: AptSource[], codename: string): AptSource[] {
  const own = sources.flatMap((source) => {
    const suites = words(source.get('suites')).filter((suite) => suite === codename || suite.startsWith(`${codename}-`))
    return suites.length === 0 ? [] : [new Map([...source, ['types', 'deb'], ['suites', suites.join(' ')]])]
  })
  const backports = `${codename}-backports`
  const main = own.find((source) => words(source.get('suites')).includes(codename))
  const listed = own.some((source) => words(source.get('suites')).includes(backports))
  return main === undefined || listed ? own : [...own, new Map([...main, ['suites', backports]])]
}

export function formatSources(sources: AptSource[]): string {
  return sources.map((source) => [...source].map(([name, value]) => `${name}: ${value}\n`).join('')).join('\n')
}

function words(text: string | undefined): string[] {
  return (text ?? '').split(/\s+/).filter((word) => word !== '')
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)]
}
