import { z } from 'zod'

/**
 * Ids are a prefix and a UUIDv7 in lower-case base32, so an id sorts by time and names its time partition.
 * On the way in only shape and length are checked: an id that cannot exist is answered as one that does not.
 */
const idTextMax = 96

type BrandedText<Brand extends string> = z.core.$ZodBranded<z.ZodString, Brand>

const anyId = <Brand extends string>(_brand: Brand, prefix: string): BrandedText<Brand> =>
  z
    .string()
    .max(idTextMax)
    .meta({ examples: [`${prefix}01k9z3q4e8f6tv5x2m7c0n1b3a`] }) as unknown as BrandedText<Brand>

export const FileId = anyId('FileId', 'file-')
export const UploadId = anyId('UploadId', 'upload_')
export const PartId = anyId('PartId', 'part_')
export const OrgId = anyId('OrgId', 'org-')
export const ProjectId = anyId('ProjectId', 'proj_')
export const UserId = anyId('UserId', 'user-')
export const InviteId = anyId('InviteId', 'invite-')
export const ServiceAccountId = anyId('ServiceAccountId', 'svcacct_')
export const KeyId = anyId('KeyId', 'key_')
export const AuditLogId = anyId('AuditLogId', 'audit_log-')
export const AdAccountId = anyId('AdAccountId', 'adacct_')
export const WebhookEndpointId = anyId('WebhookEndpointId', 'whe_')
export const WebhookSecretId = anyId('WebhookSecretId', 'whsk_')
export const WebhookDeliveryId = anyId('WebhookDeliveryId', 'whd_')
export const ResponseId = anyId('ResponseId', 'resp_')
export const ChatCompletionId = anyId('ChatCompletionId', 'chatcmpl-')
export const ConversationId = anyId('ConversationId', 'conv_')
export const ContainerId = anyId('ContainerId', 'cntr_')
export const ContainerFileId = anyId('ContainerFileId', 'cfile_')
export const SkillId = anyId('SkillId', 'skill_')
export const SkillVersionId = anyId('SkillVersionId', 'skillver_')
export const PaymentId = anyId('PaymentId', 'pay_')
export const BatchId = anyId('BatchId', 'batch_')
export const EvalId = anyId('EvalId', 'eval_')
export const EvalRunId = anyId('EvalRunId', 'evalrun_')
export const OutputItemId = anyId('OutputItemId', 'outputitem_')

export type FileId = z.infer<typeof FileId>
export type UploadId = z.infer<typeof UploadId>
export type PartId = z.infer<typeof PartId>
export type OrgId = z.infer<typeof OrgId>
export type ProjectId = z.infer<typeof ProjectId>
export type UserId = z.infer<typeof UserId>
export type InviteId = z.infer<typeof InviteId>
export type ServiceAccountId = z.infer<typeof ServiceAccountId>
export type KeyId = z.infer<typeof KeyId>
export type AuditLogId = z.infer<typeof AuditLogId>
export type AdAccountId = z.infer<typeof AdAccountId>
export type WebhookEndpointId = z.infer<typeof WebhookEndpointId>
export type WebhookSecretId = z.infer<typeof WebhookSecretId>
export type WebhookDeliveryId = z.infer<typeof WebhookDeliveryId>
export type ResponseId = z.infer<typeof ResponseId>
export type ChatCompletionId = z.infer<typeof ChatCompletionId>
export type ConversationId = z.infer<typeof ConversationId>
export type ContainerId = z.infer<typeof ContainerId>
export type ContainerFileId = z.infer<typeof ContainerFileId>
export type SkillId = z.infer<typeof SkillId>
export type SkillVersionId = z.infer<typeof SkillVersionId>
export type BatchId = z.infer<typeof BatchId>
export type EvalId = z.infer<typeof EvalId>
export type EvalRunId = z.infer<typeof EvalRunId>
export type OutputItemId = z.infer<typeof OutputItemId>
export type PaymentId = z.infer<typeof PaymentId>
