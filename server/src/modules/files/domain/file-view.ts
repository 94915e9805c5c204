import type { File, FilePurpose, Upload } from '@switchyard/contracts/files.ts'
import type { z } from 'zod'
import type { FileRow } from '../store/files.ts'
import type { UploadRow } from '../store/uploads.ts'

const seconds = (at: Date) => Math.floor(at.getTime() / 1_000)

export function fileView(row: FileRow): File {
  return {
    id: row.id as File['id'],
    object: 'file',
    bytes: row.bytes,
    created_at: seconds(row.created_at),
    expires_at: row.expires_at === null ? null : seconds(row.expires_at),
    filename: row.filename,
    purpose: row.purpose as z.infer<typeof FilePurpose>,
    status: 'processed',
    status_details: null,
  }
}

export function uploadView(row: UploadRow, file: FileRow | null): Upload {
  return {
    id: row.id as Upload['id'],
    object: 'upload',
    bytes: row.bytes,
    created_at: seconds(row.created_at),
    expires_at: seconds(row.expires_at),
    filename: row.filename,
    purpose: row.purpose as Upload['purpose'],
    status: row.status,
    file: file === null ? null : fileView(file),
  }
}

export const createdSeconds = seconds
