/** A container cannot be used any more, through nobody's request. The message is for the user. */
export class ContainerLost extends Error {
  override readonly name = 'ContainerLost'
}
