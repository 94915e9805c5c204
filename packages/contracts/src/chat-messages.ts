import { z } from 'zod'

const textMax = 16 * 1024 * 1024
const urlMax = 32 * 1024 * 1024
const partsMax = 2_048
const callsMax = 128
const nameMax = 128

const text = z.string().max(textMax)
const callId = z.string().min(1).max(256)

const TextPart = z.strictObject({ type: z.literal('text'), text })
const RefusalPart = z.strictObject({ type: z.literal('refusal'), refusal: text })
const ImagePart = z.strictObject({
  type: z.literal('image_url'),
  image_url: z.strictObject({ url: z.string().min(1).max(urlMax), detail: z.enum(['auto', 'low', 'high']).optional() }),
})
const FilePart = z.strictObject({
  type: z.literal('file'),
  file: z.strictObject({ filename: z.string().min(1).max(512).optional(), file_data: z.string().min(1).max(urlMax) }),
})

const texts = z.union([text, z.array(TextPart).min(1).max(partsMax)])
const name = z.string().min(1).max(nameMax).optional()

export const ChatToolCall = z.strictObject({
  id: callId,
  type: z.literal('function'),
  function: z.strictObject({ name: z.string().min(1).max(nameMax), arguments: text }),
})

const AssistantMessage = z.strictObject({
  role: z.literal('assistant'),
  content: z.union([text, z.array(z.discriminatedUnion('type', [TextPart, RefusalPart])).max(partsMax)]).nullish(),
  refusal: text.nullish(),
  tool_calls: z.array(ChatToolCall).max(callsMax).optional(),
  name,
  // A message of a reply may be sent back as it came.
  annotations: z.array(z.unknown()).max(partsMax).nullish(),
  reasoning_content: text.nullish(),
  reasoning: text.nullish(),
})

export const ChatMessage = z.discriminatedUnion('role', [
  z.strictObject({ role: z.enum(['system', 'developer']), content: texts, name }),
  z.strictObject({
    role: z.literal('user'),
    content: z.union([
      text,
      z
        .array(z.discriminatedUnion('type', [TextPart, ImagePart, FilePart]))
        .min(1)
        .max(partsMax),
    ]),
    name,
  }),
  AssistantMessage,
  z.strictObject({ role: z.literal('tool'), content: texts, tool_call_id: callId }),
])
export type ChatMessage = z.infer<typeof ChatMessage>
