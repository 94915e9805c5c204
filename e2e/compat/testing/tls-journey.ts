import { OpenAI, toFile } from 'openai'

/** Run as a program of its own: Node reads NODE_EXTRA_CA_CERTS only when it starts. */
async function main(): Promise<void> {
  const client = new OpenAI({ maxRetries: 0 })
  const file = await toFile(Buffer.from('over tls'), 'tls.txt')
  const { id } = await client.files.create({ file, purpose: 'user_data' })
  const text = await (await client.files.content(id)).text()
  await client.files.delete(id)
  console.log(text)
}

if (import.meta.main) await main()
