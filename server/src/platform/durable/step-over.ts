/** Thrown by a step that has nothing left to do. The engine sees success, and nothing is tried again. */
export class StepOver extends Error {
  override name = 'StepOver'
}

/** Another attempt has taken this work over; what this one still holds must not be written. */
export class Superseded extends StepOver {
  override name = 'Superseded'
}

/** The work is done, cancelled or gone. */
export class Finished extends StepOver {
  override name = 'Finished'
}
