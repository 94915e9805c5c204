import { rowError, rowOk, type Expected, type HostileInput } from './hostile-input.ts'

const notJson = rowError(/^Line \d+: it is not JSON/)
const notUtf8 = rowError(/^Line \d+: it is not JSON in UTF-8/)
const noItem = rowError(/^Line \d+: it is not an object with the key 'item'/)
const itemNoObject = rowError(/^Line \d+: the value of 'item' is not an object/)
const sampleNoObject = rowError(/^Line \d+: the value of 'sample' is not an object/)
const stray = rowError(/^Line \d+: it has the key .* beside 'item'/)
const outOfRange = rowError(/^Line \d+: it has a number that is out of range/)
const tooDeep = rowError(/^Line \d+: it is more than 100 levels deep/)
const tooLong = rowError(/^Line \d+: it is longer than \d+ bytes/)
const tooMany = rowError(/^Line \d+: it has more than \d+ values/)
const mismatch = rowError(/^Line \d+: item/)

type Written = [name: string, line: string | (() => string | Uint8Array), expected: Expected, rows?: number]

const good = '{"item":{"a":"x"}}'
const around = (value: string) => `{"item":{"a":${value}}}`
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))
const deep = (open: string, close: string, depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`

const broken: Written[] = [
  ['cut after the first brace', '{', notJson],
  ['cut within the key', '{"ite', notJson],
  ['cut within the text', '{"item":{"a":"x', notJson],
  ['cut before the last brace', '{"item":{"a":"x"}', notJson],
  ['cut within an escape', '{"item":{"a":"\\u12', notJson],
  ['one brace too many', `${good}}`, notJson],
  ['two objects', `${good}${good}`, notJson],
  ['two objects with a comma', `${good},${good}`, notJson],
  ['a comma at its end', `${good},`, notJson],
  ['a comma in the object', '{"item":{"a":"x",}}', notJson],
  ['single quotes', "{'item':{'a':'x'}}", notJson],
  ['keys without quotes', '{item:{a:"x"}}', notJson],
  ['a comment', `${good} // good`, notJson],
  ['a comment inside', '{"item":/* here */{"a":"x"}}', notJson],
  ['NaN', around('NaN'), notJson],
  ['Infinity', around('-Infinity'), notJson],
  ['undefined', around('undefined'), notJson],
  ['a hexadecimal number', around('0x10'), notJson],
  ['a number with a leading zero', around('01'), notJson],
  ['a number with a plus', around('+1'), notJson],
  ['a number that ends in a point', around('1.'), notJson],
  ['an escape that is none', around('"\\x41"'), notJson],
  ['a tab within a text', around('"a\tb"'), notJson],
  ['a carriage return within a text', around('"a\rb"'), notJson],
  ['a line feed within a text', around('"a\nb"'), notJson, 2],
  ['the word null misspelled', 'NULL', notJson],
  ['a Python literal', "{'item': {'a': None}}", notJson],
  ['CSV', 'a,b,c', notJson],
  ['YAML', 'item: {a: x}', notJson],
  ['HTML', '<html><script>alert(1)</script></html>', notJson],
  ['a shell command', '$(touch /tmp/owned)', notJson],
  ['SQL', "'); drop table evals.run; --", notJson],
  ['the parts of a JSON sequence', '\u001e{"item":{"a":"x"}}', notJson],
  ['JSON that holds JSON', JSON.stringify(good), noItem],
  ['a form feed before it', `\f${good}`, notJson],
  ['a no-break space before it', `\u00a0${good}`, notJson],
  ['a line separator after it', `${good}\u2028`, notJson],
]

const badBytes: Written[] = [
  ['a NUL', () => bytes('{"item":{"a":"', [0], '"}}'), notJson],
  ['only NULs', () => new Uint8Array(64), notJson],
  ['a byte that UTF-8 does not have', () => bytes('{"item":{"a":"', [0xff], '"}}'), notUtf8],
  ['a byte that continues nothing', () => bytes('{"item":{"a":"', [0x80], '"}}'), notUtf8],
  ['a character cut short', () => bytes('{"item":{"a":"', [0xe2, 0x82], '"}}'), notUtf8],
  ['a slash in two bytes', () => bytes('{"item":{"a":"', [0xc0, 0xaf], '"}}'), notUtf8],
  ['half a pair in UTF-8', () => bytes('{"item":{"a":"', [0xed, 0xa0, 0x80], '"}}'), notUtf8],
  ['a code point past Unicode', () => bytes('{"item":{"a":"', [0xf4, 0x90, 0x80, 0x80], '"}}'), notUtf8],
  ['Latin-1', () => Buffer.from('{"item":{"a":"Größe"}}', 'latin1'), notUtf8],
  ['UTF-16', () => Buffer.from(good, 'utf16le'), notJson],
  ['UTF-16 with its mark', () => bytes([0xff, 0xfe], Buffer.from(good, 'utf16le').toString('latin1')), notUtf8],
  ['gzip', () => bytes([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab, 0x56]), notUtf8],
  ['a JPEG', () => bytes([0xff, 0xd8, 0xff, 0xe0], 'JFIF'), notUtf8],
  ['two byte order marks', () => bytes([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], good), notJson],
  ['a byte order mark', () => bytes([0xef, 0xbb, 0xbf], good), rowOk],
]

const otherShapes: Written[] = [
  ['null', 'null', noItem],
  ['true', 'true', noItem],
  ['a number', '42', noItem],
  ['a text', '"item"', noItem],
  ['a list', '[]', noItem],
  ['a list of one row', `[${good}]`, noItem],
  ['an empty object', '{}', noItem],
  ['the item by itself', '{"a":"x"}', noItem],
  ['another spelling', '{"Item":{"a":"x"}}', noItem],
  ['a key that only looks like item', '{"it\u0435m":{"a":"x"}}', noItem],
  ['a row of a batch', '{"custom_id":"a","method":"POST","url":"/v1/responses","body":{}}', noItem],
  ['an item in the prototype', '{"__proto__":{"item":{"a":"x"}}}', noItem],
  ['an item that is null', '{"item":null}', itemNoObject],
  ['an item that is a text', '{"item":"x"}', itemNoObject],
  ['an item that is a number', '{"item":1}', itemNoObject],
  ['an item that is a list', '{"item":[{"a":"x"}]}', itemNoObject],
  ['the last of two items is no object', '{"item":{"a":"x"},"item":7}', itemNoObject],
  ['a sample that is a text', '{"item":{"a":"x"},"sample":"x"}', sampleNoObject],
  ['a sample that is a list', '{"item":{"a":"x"},"sample":[]}', sampleNoObject],
  ['a key beside the item', '{"item":{"a":"x"},"id":1}', stray],
  ['a prototype beside the item', '{"item":{"a":"x"},"__proto__":{"sample":{}}}', stray],
  ['a constructor beside the item', '{"item":{"a":"x"},"constructor":{"prototype":{"a":1}}}', stray],
  ['a key of 100,000 letters beside the item', () => `{"item":{"a":"x"},"${'k'.repeat(100_000)}":1}`, stray],
  ['half a character as a key beside the item', '{"item":{"a":"x"},"\\ud800\\u0000":1}', stray],
  ['an item without what is required', '{"item":{"b":"x"}}', mismatch],
  ['an item of another type', '{"item":{"a":1}}', mismatch],
  ['an item with null for a text', '{"item":{"a":null}}', mismatch],
  ['what is required in the prototype only', '{"item":{"__proto__":{"a":"x"}}}', mismatch],
]

const sizes: Written[] = [
  ['a number past every range', '{"item":{"a":"x","n":1e999}}', outOfRange],
  ['a number past every range, further in', '{"item":{"a":"x","n":[[[-1e400]]]}}', outOfRange],
  ['101 levels of objects', `{"item":{"a":"x","n":${deep('{"a":', '}', 101)}}}`, tooDeep],
  ['10,000 levels of lists', () => `{"item":{"a":"x","n":${deep('[', ']', 10_000)}}}`, tooDeep],
  ['10,000 levels of objects', () => `{"item":{"a":"x","n":${deep('{"a":', '}', 10_000)}}}`, tooDeep],
  ['a million levels of lists', () => `{"item":{"a":"x","n":${deep('[', ']', 1_000_000)}}}`, tooDeep],
  ['10,000 levels in the sample', () => `{"item":{"a":"x"},"sample":${deep('{"a":', '}', 10_000)}}`, tooDeep],
  ['a million levels that nothing closes', () => '['.repeat(1_000_000), notJson],
  ['20 MB', () => around(`"${'x'.repeat(20 * 1024 * 1024)}"`), tooLong],
  ['20 MB that are not JSON', () => 'x'.repeat(20 * 1024 * 1024), tooLong],
  ['20 MB of spaces around it', () => `${' '.repeat(20 * 1024 * 1024)}${good}`, tooLong],
  ['5 MB of small objects', () => `{"item":{"a":"x","n":[${'{},'.repeat(1_750_000)}1]}}`, tooLong],
  ['a million small lists', () => `{"item":{"a":"x","n":[${'[],'.repeat(1_000_000)}1]}}`, tooMany],
  ['15,000 small lists', () => `{"item":{"a":"x","n":[${'[],'.repeat(15_000)}1]}}`, rowOk],
  ['100,000 keys', () => `{"item":{"a":"x",${keys(100_000)}}}`, tooMany],
  ['a text of 3 MB', () => around(`"${'x'.repeat(3 * 1024 * 1024)}"`), rowOk],
  ['a number of 100,000 digits', () => `{"item":{"a":"x","n":0.${'1'.repeat(100_000)}}}`, rowOk],
]

function keys(count: number): string {
  return Array.from({ length: count }, (_, n) => `"k${n}":${n}`).join(',')
}

/** Odd, and still data. */
const sound: Written[] = [
  ['spaces around everything', ` { "item" : { "a" : "x" } } `, rowOk],
  ['a carriage return at its end', `${good}\r`, rowOk],
  ['a key twice', '{"item":{"a":1,"a":"x"}}', rowOk],
  ['an item twice', '{"item":7,"item":{"a":"x"}}', rowOk],
  ['half a character, escaped', around('"\\ud800"'), rowOk],
  ['NUL, escaped', around('"a\\u0000b"'), rowOk],
  ['every control character, escaped', around('"\\u0001\\u001f\\u007f\\u0080\\u2028\\ufeff\\uffff"'), rowOk],
  ['text from right to left', around('"\u202e\u2066abc\u2069"'), rowOk],
  ['a hundred marks on one letter', around(`"a${'\u0301'.repeat(100)}"`), rowOk],
  [
    'keys that objects inherit',
    '{"item":{"a":"x","constructor":1,"toString":2,"hasOwnProperty":3,"valueOf":4}}',
    rowOk,
  ],
  ['a prototype within the item', '{"item":{"a":"x","__proto__":{"polluted":true}}}', rowOk],
  ['a toJSON within the item', '{"item":{"a":"x","toJSON":"x"}}', rowOk],
  ['a then within the item', '{"item":{"a":"x","then":"x"}}', rowOk],
  ['markup', around('"<img src=x onerror=alert(1)>"'), rowOk],
  ['a template', around('"{{ item.b }} {{ sample.output_text }}"'), rowOk],
  ['an empty key and an empty text', '{"item":{"a":"","":""}}', rowOk],
  ['an integer past 2^53', '{"item":{"a":"x","n":123456789012345678901234567890}}', rowOk],
  ['a sample that is null', '{"item":{"a":"x"},"sample":null}', rowOk],
]

export const hostileLines: readonly HostileInput[] = [...broken, ...badBytes, ...otherShapes, ...sizes, ...sound].map(
  ([name, line, expected, rows = 1]) => ({
    name: `line: ${name}`,
    kind: 'line',
    line: typeof line === 'string' ? () => line : line,
    rows,
    ...expected,
  }),
)
