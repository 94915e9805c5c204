/** The name of a secret and the one domain that it is for. Its value is elsewhere. */
export interface SecretName {
  readonly domain: string
  readonly name: string
}

/** A skill that is mounted read-only: one version of an uploaded one, or one that came with the request. */
export interface BoxSkill {
  readonly type: 'skill_reference' | 'inline'
  readonly skill_id?: string
  readonly version?: string
  readonly name: string
  readonly description: string
  /** Its folder below /mnt/skills. */
  readonly mount: string
  /** A zip that was found to be in order when the request was accepted. */
  readonly blob: string
}

/** A file that lies under /mnt/data before the first command. */
export type BoxFile =
  | { readonly filename: string; readonly fileId: string; readonly bytes: number }
  | { readonly filename: string; readonly blob: string; readonly bytes: number }

/** Everything that a host needs to make a container real. It holds no secret. */
export interface BoxOrder {
  readonly containerId: string
  readonly projectId: string
  readonly orgId: string
  readonly memoryBytes: number
  readonly allowedDomains: readonly string[] | null
  readonly secrets: readonly SecretName[]
  readonly skills: readonly BoxSkill[]
  readonly files: readonly BoxFile[]
}
