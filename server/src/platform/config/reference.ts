import { settings } from './settings.ts'

/** The page docs/reference/settings.md. */
export function settingsReference(): string {
  const rows = Object.entries(settings).map(([name, setting]) => {
    const fallback =
      setting.defaultText === null ? '–' : setting.defaultText === '' ? 'empty' : `\`${setting.defaultText}\``
    return `| \`${name}\` | ${setting.unit.replaceAll('|', '\\|')} | ${fallback} | ${setting.description}${setting.secret ? ' (secret)' : ''} |`
  })
  return [
    '# Settings',
    '',
    'Printed by `npm run switchyard -- settings` from `server/src/platform/config/settings.ts`; do not edit.',
    '',
    'Settings are environment variables. They are checked at start: a value that does not fit, or a variable with our',
    'prefix that is not listed here, stops the program with a line that says what to do. Names that begin with',
    '`SWITCHYARD_DEV_` or `SWITCHYARD_TEST_`, and the ones `npm run dev` writes for clients, are left alone.',
    '',
    '| Setting | Unit | Default | What it does |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}
