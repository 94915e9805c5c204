import { z } from 'zod'
import { InputFile, InputImage, InputText } from '../responses/parts.ts'

/** Text with `{{ item.… }}` and `{{ sample.… }}` in it. */
export const templateTextMax = 256 * 1024
export const templateMessagesMax = 256
const partsMax = 256

export const TemplateText = z.string().max(templateTextMax)

const text = { type: z.literal('input_text'), text: TemplateText }
const TextPart = z.strictObject(text)
const WrittenPart = z.strictObject({ type: z.literal('output_text'), text: TemplateText })

/** No model here listens: better refused when it is written than by every row. */
const AudioPart = z.looseObject({ type: z.literal('input_audio') }).transform(({ type }, { addIssue }): never => {
  const message = 'the models of this server take no audio in a message'
  addIssue({ code: 'custom', params: { fault: 'unsupported_value' }, path: ['type'], message, input: type })
  return z.NEVER
})

/** What is not passed on is refused, not dropped. */
const GivenText = z
  .strictObject({ ...InputText.shape, ...text })
  .refine(({ prompt_cache_breakpoint: breakpoint }) => breakpoint === undefined, {
    error: 'messages of evals have no prompt_cache_breakpoint',
    path: ['prompt_cache_breakpoint'],
    params: { fault: 'unsupported_value' },
  })

const GivenPart = z.discriminatedUnion('type', [GivenText, WrittenPart, InputImage, InputFile, AudioPart])

export const EvalPart = z.discriminatedUnion('type', [TextPart, WrittenPart, InputImage, InputFile])
export type EvalPart = z.infer<typeof EvalPart>

const Role = z.enum(['user', 'assistant', 'system', 'developer'])

/** The one form that is stored, shown and rendered, whichever form was sent. */
export const EvalMessage = z
  .strictObject({
    type: z.literal('message'),
    role: Role,
    content: z.union([EvalPart, z.array(EvalPart)]),
  })
  .meta({ id: 'EvalMessage' })
export type EvalMessage = z.infer<typeof EvalMessage>

const partOf = (given: string | EvalPart): EvalPart =>
  typeof given === 'string' ? { type: 'input_text', text: given } : given

/** A message as a client writes it. */
export const GivenMessage = z
  .strictObject({
    type: z.literal('message').optional(),
    role: Role,
    content: z.union([
      TemplateText,
      GivenPart,
      z
        .array(z.union([TemplateText, GivenPart]))
        .min(1)
        .max(partsMax),
    ]),
  })
  .transform(({ role, content }): EvalMessage => ({
    type: 'message',
    role,
    content: Array.isArray(content) ? content.map(partOf) : partOf(content),
  }))
  .meta({ id: 'EvalMessageParam' })

export const GivenMessages = z.array(GivenMessage).min(1).max(templateMessagesMax)
