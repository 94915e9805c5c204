import { z } from 'zod'

const idTextMax = 256
const urlTextMax = 32 * 1024 * 1024

/** Any id inside an item: ours, or one that a client brought along from elsewhere. */
export const ItemText = z.string().min(1).max(idTextMax)

const CacheBreakpoint = z.strictObject({
  mode: z.literal('explicit'),
  ttl: z.string().max(idTextMax).optional(),
})

export const InputText = z.strictObject({
  type: z.literal('input_text'),
  text: z.string(),
  prompt_cache_breakpoint: CacheBreakpoint.optional(),
})

export const InputImage = z
  .strictObject({
    type: z.literal('input_image'),
    detail: z.enum(['low', 'high', 'auto', 'original']).optional(),
    image_url: z.string().max(urlTextMax).nullish(),
    file_id: ItemText.nullish(),
  })
  .refine((part) => part.image_url != null || part.file_id != null, 'one of image_url and file_id is needed')

export const InputFile = z
  .strictObject({
    type: z.literal('input_file'),
    filename: z.string().min(1).max(512).optional(),
    /** A data URL with base64 content, or bare base64. */
    file_data: z.string().optional(),
    file_id: ItemText.nullish(),
    file_url: z.string().max(urlTextMax).optional(),
    detail: z.enum(['auto', 'low', 'high']).optional(),
    /** The content went to the container of a hosted shell; this is how large it was. */
    bytes: z.int().nonnegative().optional(),
  })
  .refine(
    (part) => part.bytes != null || part.file_data != null || part.file_id != null || part.file_url != null,
    'one of file_data, file_id and file_url is needed',
  )

const TopLogprob = z.strictObject({ token: z.string(), bytes: z.array(z.int()).optional(), logprob: z.number() })
export const Logprob = z.strictObject({
  token: z.string(),
  bytes: z.array(z.int()).optional(),
  logprob: z.number(),
  top_logprobs: z.array(TopLogprob).optional(),
})

export const Annotation = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('container_file_citation'),
    container_id: z.string(),
    file_id: z.string(),
    filename: z.string(),
    start_index: z.int(),
    end_index: z.int(),
  }),
  z.strictObject({ type: z.literal('file_citation'), file_id: z.string(), filename: z.string(), index: z.int() }),
  z.strictObject({ type: z.literal('file_path'), file_id: z.string(), index: z.int() }),
  z.strictObject({
    type: z.literal('url_citation'),
    url: z.string(),
    title: z.string(),
    start_index: z.int(),
    end_index: z.int(),
  }),
])

export const OutputText = z.strictObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(Annotation).default([]),
  logprobs: z.array(Logprob).optional(),
})

export const Refusal = z.strictObject({ type: z.literal('refusal'), refusal: z.string() })
export const ReasoningText = z.strictObject({ type: z.literal('reasoning_text'), text: z.string() })
export const SummaryText = z.strictObject({ type: z.literal('summary_text'), text: z.string() })

/** What a message may hold, whoever wrote it. */
export const MessagePart = z.discriminatedUnion('type', [InputText, InputImage, InputFile, OutputText, Refusal])
/** What a tool may answer with, beside plain text. */
export const ToolOutputPart = z.discriminatedUnion('type', [InputText, InputImage, InputFile])

export type InputText = z.infer<typeof InputText>
export type InputImage = z.infer<typeof InputImage>
export type InputFile = z.infer<typeof InputFile>
export type OutputText = z.infer<typeof OutputText>
export type Refusal = z.infer<typeof Refusal>
export type MessagePart = z.infer<typeof MessagePart>
export type ToolOutputPart = z.infer<typeof ToolOutputPart>
export type Annotation = z.infer<typeof Annotation>
export type Logprob = z.infer<typeof Logprob>
