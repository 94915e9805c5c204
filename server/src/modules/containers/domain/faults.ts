import { Fault } from '#platform/errors/fault.ts'
import { ContainerLost } from './lost.ts'

export const noSuchContainer = (id: string, param?: string) =>
  new Fault('container_not_found', `No such container: ${id}.`, param === undefined ? {} : { param })

export const noSuchFile = () => new Fault('not_found', 'No such file in this container.', { param: 'file_id' })

export const containerGone = (id: string) =>
  new Fault('container_gone', `The container ${id} has expired; its files are gone.`)

/** A container that ended while it was asked is told as one that had ended. */
export function toldAsGone(id: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof ContainerLost ? containerGone(id) : error
  }
}
