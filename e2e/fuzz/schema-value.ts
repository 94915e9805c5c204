import type { Schema } from './api.ts'
import type { Chance } from './chance.ts'
import type { KnownIds } from './known-ids.ts'

/** Texts that fit the patterns of the contract. */
const fitting = ['example.com', '*.example.com', 'd41d8cd98f00b204e9800998ecf8427e', 'project.created', 'a@example.com']
const itemsMost = 3
const textMost = 40
const idTextMax = 96

/** A value that the schema allows, as a rule; ids are such as replies have shown. */
export function valueOf(schema: Schema, chance: Chance, ids: KnownIds): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return chance.pick(schema.enum)
  if (schema.anyOf !== undefined) return valueOf(chance.pick(schema.anyOf), chance, ids)
  const type = typeof schema.type === 'string' ? schema.type : chance.pick(schema.type ?? ['string'])
  switch (type) {
    case 'object':
      return objectOf(schema, chance, ids)
    case 'array': {
      const length = chance.between(schema.minItems ?? 0, Math.max(schema.minItems ?? 0, itemsMost))
      return Array.from({ length }, () => valueOf(schema.items ?? {}, chance, ids))
    }
    case 'integer':
    case 'number':
      return numberOf(schema, chance)
    case 'boolean':
      return chance.often(0.5)
    case 'null':
      return null
    default:
      return textOf(schema, chance, ids)
  }
}

function objectOf({ properties = {}, required = [] }: Schema, chance: Chance, ids: KnownIds): Record<string, unknown> {
  const present = Object.entries(properties).filter(([name]) => required.includes(name) || chance.often(0.4))
  return Object.fromEntries(
    present.map(([name, schema]) => [name, name === 'url' ? chance.pick(ids.urls) : valueOf(schema, chance, ids)]),
  )
}

function numberOf({ minimum = 0, maximum = 1_000_000 }: Schema, chance: Chance): number {
  if (chance.often(0.2)) return minimum
  if (chance.often(0.2)) return maximum
  return chance.between(minimum, Math.min(maximum, minimum + 1_000))
}

function textOf(schema: Schema, chance: Chance, ids: KnownIds): string {
  const [example] = schema.examples ?? []
  if (typeof example === 'string') return ids.like(example, chance)
  if (schema.format === 'email') return `${chance.word(8)}@example.com`
  const { pattern } = schema
  if (pattern !== undefined) return fitting.find((text) => new RegExp(pattern).test(text)) ?? chance.word(8)
  if (schema.maxLength === idTextMax) return ids.any(chance)
  if (chance.often(0.1)) return 'x'.repeat(Math.min(schema.maxLength ?? textMost, 2_000))
  return chance.word(Math.max(schema.minLength ?? 0, chance.between(1, textMost)))
}
