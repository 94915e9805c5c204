import type { OutputItem, ShellOutputEntry } from './items.ts'
import type { Annotation, Logprob, OutputText, Refusal } from './parts.ts'
import type { Response } from './response.ts'

type Part = OutputText | Refusal | { type: 'reasoning_text'; text: string }
interface Summary {
  type: 'summary_text'
  text: string
}

interface At {
  output_index: number
}
interface InItem extends At {
  item_id: string
}
interface InPart extends InItem {
  content_index: number
}
interface InSummary extends InItem {
  summary_index: number
}

/** Every event that a response's stream may carry, before it is numbered. The SDK's strict helper refuses any other. */
export type StreamEventBody =
  | {
      type:
        | 'response.created'
        | 'response.queued'
        | 'response.in_progress'
        | 'response.completed'
        | 'response.failed'
        | 'response.incomplete'
      response: Response
    }
  | { type: 'error'; code: string | null; message: string; param: string | null }
  | ({ type: 'response.output_item.added' | 'response.output_item.done'; item: OutputItem } & At)
  | ({ type: 'response.content_part.added' | 'response.content_part.done'; part: Part } & InPart)
  | ({ type: 'response.output_text.delta'; delta: string; logprobs: Logprob[] } & InPart)
  | ({ type: 'response.output_text.done'; text: string; logprobs: Logprob[] } & InPart)
  | ({ type: 'response.output_text.annotation.added'; annotation: Annotation; annotation_index: number } & InPart)
  | ({ type: 'response.refusal.delta'; delta: string } & InPart)
  | ({ type: 'response.refusal.done'; refusal: string } & InPart)
  | ({ type: 'response.function_call_arguments.delta'; delta: string } & InItem)
  | ({ type: 'response.function_call_arguments.done'; arguments: string } & InItem)
  | ({ type: 'response.custom_tool_call_input.delta'; delta: string } & InItem)
  | ({ type: 'response.custom_tool_call_input.done'; input: string } & InItem)
  | ({ type: 'response.shell_call_command.added'; command: string; command_index: number } & At)
  | ({ type: 'response.shell_call_command.delta'; delta: string; command_index: number } & At)
  | ({ type: 'response.shell_call_command.done'; command: string; command_index: number } & At)
  | ({
      type: 'response.shell_call_output_content.delta'
      command_index: number
      delta: { stdout?: string; stderr?: string }
    } & InItem)
  | ({ type: 'response.shell_call_output_content.done'; command_index: number; output: ShellOutputEntry[] } & InItem)
  | ({
      type: 'response.reasoning_summary_part.added' | 'response.reasoning_summary_part.done'
      part: Summary
    } & InSummary)
  | ({ type: 'response.reasoning_summary_text.delta'; delta: string } & InSummary)
  | ({ type: 'response.reasoning_summary_text.done'; text: string } & InSummary)
  | ({ type: 'response.reasoning_text.delta'; delta: string } & InPart)
  | ({ type: 'response.reasoning_text.done'; text: string } & InPart)
  | ({ type: 'response.compaction.compacting' } & InItem)

export type StreamEvent = StreamEventBody & { sequence_number: number; obfuscation?: string }
