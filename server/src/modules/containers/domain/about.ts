import type { BoxFile, BoxSkill, SecretName } from './order.ts'

export interface Surroundings {
  readonly skills: readonly BoxSkill[]
  readonly files: readonly BoxFile[]
  readonly allowedDomains: readonly string[] | null
  readonly secrets: readonly SecretName[]
}

/** What a model has to know of the container that its commands run in. Of a secret it learns the placeholder only. */
export function aboutContainer({ skills, files, allowedDomains, secrets }: Surroundings): string {
  const lines = [
    'The shell runs in a Linux container. Commands start in /mnt/data, without a terminal and without sudo.',
    'Files to be handed to the user belong under /mnt/data; name them by their full path.',
  ]
  if (files.length > 0) lines.push('Files of the user:')
  for (const { filename, bytes } of files) lines.push(`- /mnt/data/${filename} (${bytes} bytes)`)
  if (skills.length > 0) lines.push('Skills, each a folder of instructions to read before use:')
  for (const { name, description, mount } of skills) lines.push(`- ${name} (/mnt/skills/${mount}): ${description}`)
  if (allowedDomains === null || allowedDomains.length === 0) lines.push('There is no network.')
  else lines.push(`The network is closed except for: ${allowedDomains.join(', ')}.`)
  for (const { domain, name } of secrets) {
    lines.push(`For ${domain}, write $${name} in a request header where the secret belongs; it is put in on the way.`)
  }
  return lines.join('\n')
}
