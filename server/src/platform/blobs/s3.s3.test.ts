import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  ListMultipartUploadsCommand,
  S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { newBlobName } from './blobs.ts'
import { createBlobs } from './create-blobs.ts'
import type { S3Options } from './s3.ts'
import { blobsSuite, listAll } from './testing/blobs-suite.ts'
import { faultyProxy, type Fault } from './testing/faulty-proxy.ts'

const MB = 1024 * 1024

/** A bucket of the server that the environment names, for one test. */
async function bucket(t: TestContext): Promise<{ options: S3Options; client: S3Client }> {
  const given = (name: string): string => {
    const value = process.env[`SWITCHYARD_TEST_S3_${name}`] ?? ''
    assert.notEqual(value, '', `SWITCHYARD_TEST_S3_${name} is not set; run: npm run test:s3`)
    return value
  }
  const options = {
    endpoint: given('URL'),
    region: given('REGION'),
    accessKeyId: given('ACCESS_KEY_ID'),
    secretAccessKey: given('SECRET_ACCESS_KEY'),
    bucket: `switchyard-test-${randomBytes(8).toString('hex')}`,
    pathStyle: true,
  }
  const { endpoint, region, accessKeyId, secretAccessKey } = options
  const client = new S3Client({ endpoint, region, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } })
  await client.send(new CreateBucketCommand({ Bucket: options.bucket }))
  t.after(async () => {
    const blobs = createBlobs({ kind: 's3', ...options })
    for (const prefix of ['files', 'filesystem']) {
      for (const { name } of await listAll(blobs, prefix)) await blobs.remove(name)
    }
    await blobs.removeUnfinished(-60_000)
    await blobs.close()
    await client.send(new DeleteBucketCommand({ Bucket: options.bucket }))
    client.destroy()
  })
  return { options, client }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function unfinishedIn(client: S3Client, Bucket: string): Promise<number> {
  return (await client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads?.length ?? 0
}

blobsSuite('S3', async (t) => {
  const { options, client } = await bucket(t)
  const blobs = createBlobs({ kind: 's3', ...options })
  t.after(() => blobs.close())
  const abandon = async (Key: string): Promise<void> => {
    const named = { Bucket: options.bucket, Key }
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(named))
    await client.send(new UploadPartCommand({ ...named, UploadId, PartNumber: 1, Body: Buffer.alloc(5 * MB) }))
  }
  return { blobs, unfinished: () => unfinishedIn(client, options.bucket), abandon }
})

test('a wrong secret opens nothing, so the server really checks signatures', async (t) => {
  const { options } = await bucket(t)
  const wrong = createBlobs({ kind: 's3', ...options, secretAccessKey: 'wrong' })
  t.after(() => wrong.close())
  const refused = (error: unknown): boolean =>
    error instanceof S3ServiceException && error.$metadata.httpStatusCode === 403
  await assert.rejects(wrong.check(), refused)
  await assert.rejects(wrong.put(newBlobName('files'), once(Buffer.from('hello')), { bytesMax: 10 }), refused)
  await assert.rejects(wrong.read(newBlobName('files')), refused)
})

test('a bucket that does not exist, or a server that is not there, fails the check', async (t) => {
  const { options } = await bucket(t)
  const nowhere = createBlobs({ kind: 's3', ...options, bucket: `${options.bucket}-not` })
  const silent = createBlobs({ kind: 's3', ...options, endpoint: 'http://127.0.0.1:1' })
  await assert.rejects(nowhere.check())
  await assert.rejects(silent.check())
})

test('a part that the server refuses ends the put soon, and the parts before it go', async (t) => {
  const { options, client } = await bucket(t)
  const judge = (_method: string, url: string): Fault => (url.includes('partNumber=3') ? 'refuse' : 'pass')
  const blobs = createBlobs({ kind: 's3', ...options, endpoint: await faultyProxy(t, options.endpoint ?? '', judge) })
  t.after(() => blobs.close())
  let given = 0
  async function* zeros(): AsyncGenerator<Uint8Array> {
    for (const block = new Uint8Array(MB); given < 400 * MB; given += MB) yield block
  }
  await assert.rejects(blobs.put(newBlobName('files'), zeros(), { bytesMax: 400 * MB }), S3ServiceException)
  assert.ok(given < 60 * MB, `${given} bytes were taken from the source`)
  assert.equal(await unfinishedIn(client, options.bucket), 0)
})

test('a put that the server carried out but denied leaves nothing', async (t) => {
  const { options, client } = await bucket(t)
  const judge = (method: string, url: string): Fault =>
    (method === 'POST' && url.includes('uploadId=')) || (method === 'PUT' && !url.includes('partNumber='))
      ? 'lie'
      : 'pass'
  const blobs = createBlobs({ kind: 's3', ...options, endpoint: await faultyProxy(t, options.endpoint ?? '', judge) })
  t.after(() => blobs.close())
  for (const size of [5, 20 * MB]) {
    const blob = newBlobName('files')
    await assert.rejects(blobs.put(blob, once(new Uint8Array(size)), { bytesMax: size }), S3ServiceException)
    await assert.rejects(blobs.read(blob), { name: 'BlobMissing' })
  }
  assert.equal(await unfinishedIn(client, options.bucket), 0)
})
