import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
  S3Client,
  S3ServiceException,
  type ListMultipartUploadsCommandOutput,
} from '@aws-sdk/client-s3'
import { Readable } from 'node:stream'
import { assert } from '#platform/std/assert.ts'
import {
  assertBlobName,
  assertBlobPrefix,
  assertBlobRange,
  BlobMissing,
  BlobRangeInvalid,
  isBlobName,
  type BlobEntry,
  type Blobs,
} from './blobs.ts'
import { putS3 } from './s3-put.ts'

export type S3Options = {
  /** Any S3 API; absent means the provider's own for the region. */
  endpoint?: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  /** Bucket in the path instead of the host name, as most servers other than the original want it. */
  pathStyle: boolean
}

const PAGE_SIZE = 1_000
const ATTEMPTS_MAX = 3
const CONNECT_TIMEOUT_MS = 5_000
/** For one request up to the first byte of its reply; the longest sends one part. */
const REQUEST_TIMEOUT_MS = 120_000
/** For a reply that stands still, be it the store or a slow reader. */
const IDLE_TIMEOUT_MS = 60_000
/** A download holds one for as long as its reader takes. */
const SOCKETS_MAX = 512

/** Blobs in a bucket of any server with the S3 API. */
export function createS3Blobs(options: S3Options): Blobs {
  const client = openClient(options)
  const { bucket } = options
  const objectOf = (name: string): { Bucket: string; Key: string } => {
    assertBlobName(name)
    return { Bucket: bucket, Key: name }
  }

  return {
    put: (name, source, limits) => putS3(client, objectOf(name), source, limits),

    async read(name, range) {
      assertBlobRange(range)
      const Range = range === undefined ? undefined : `bytes=${range.start}-${range.end}`
      try {
        const { Body } = await client.send(new GetObjectCommand({ ...objectOf(name), Range }))
        assert(Body instanceof Readable, 'a body is a stream on Node')
        return Body
      } catch (error) {
        if (statusOf(error) === 404) throw new BlobMissing(name, { cause: error })
        if (statusOf(error) !== 416) throw error
        throw new BlobRangeInvalid('The range starts past the last byte.', { cause: error })
      }
    },

    async remove(name) {
      const object = objectOf(name)
      try {
        await client.send(new HeadObjectCommand(object))
      } catch (error) {
        if (statusOf(error) === 404) return false
        throw error
      }
      await client.send(new DeleteObjectCommand(object))
      return true
    },

    list(prefix) {
      assertBlobPrefix(prefix)
      return listObjects(client, bucket, prefix)
    },

    removeUnfinished: (olderThanMs) => abortUploads(client, bucket, Date.now() - olderThanMs),

    async check() {
      await client.send(new HeadBucketCommand({ Bucket: bucket }))
    },

    close() {
      client.destroy()
      return Promise.resolve()
    },
  }
}

function openClient(options: S3Options): S3Client {
  const agent = { keepAlive: true, maxSockets: SOCKETS_MAX }
  return new S3Client({
    ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
    region: options.region,
    credentials: { accessKeyId: options.accessKeyId, secretAccessKey: options.secretAccessKey },
    forcePathStyle: options.pathStyle,
    maxAttempts: ATTEMPTS_MAX,
    // Bodies are signed with their SHA-256 as it is; the newer checksums are unknown to many servers.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // It would open a new connection for every part.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      socketTimeout: IDLE_TIMEOUT_MS,
      httpAgent: agent,
      httpsAgent: agent,
    },
  })
}

async function* listObjects(
  client: S3Client,
  bucket: string,
  prefix: string,
): AsyncGenerator<BlobEntry, void, undefined> {
  const pages = paginateListObjectsV2({ client, pageSize: PAGE_SIZE }, { Bucket: bucket, Prefix: `${prefix}/` })
  for await (const { Contents = [] } of pages) {
    for (const { Key, Size, LastModified } of Contents) {
      if (Key === undefined || Size === undefined || LastModified === undefined || !isBlobName(Key)) continue
      yield { name: Key, bytes: Size, modifiedAt: LastModified }
    }
  }
}

/** Aborts uploads begun before a moment. Those of other programs in the same bucket are left alone. */
async function abortUploads(client: S3Client, bucket: string, before: number): Promise<number> {
  let aborted = 0
  let page: ListMultipartUploadsCommandOutput | undefined
  do {
    const KeyMarker = page?.NextKeyMarker
    const UploadIdMarker = page?.NextUploadIdMarker
    page = await client.send(
      new ListMultipartUploadsCommand({ Bucket: bucket, MaxUploads: PAGE_SIZE, KeyMarker, UploadIdMarker }),
    )
    for (const { Key = '', UploadId, Initiated } of page.Uploads ?? []) {
      if (!isBlobName(Key) || Initiated === undefined || Initiated.getTime() > before) continue
      await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
      aborted += 1
    }
  } while (page.IsTruncated === true && page.NextKeyMarker !== undefined)
  return aborted
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined
}
