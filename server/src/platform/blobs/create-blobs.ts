import type { Blobs } from './blobs.ts'
import { createDiskBlobs, type DiskOptions } from './disk.ts'
import { createS3Blobs, type S3Options } from './s3.ts'

export type BlobsOptions = ({ kind: 'disk' } & DiskOptions) | ({ kind: 's3' } & S3Options)

/** The blob store that the deployment has chosen. */
export function createBlobs(options: BlobsOptions): Blobs {
  switch (options.kind) {
    case 'disk':
      return createDiskBlobs(options)
    case 's3':
      return createS3Blobs(options)
  }
}
