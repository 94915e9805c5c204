export interface Finding {
  path: string
  line: number
  rule: string
  message: string
  fix: string
}

/** What tools/layers.json holds: the layering a reviewer must notice a change of. */
export interface Layers {
  /** Fewer files read than this means that the check looked in the wrong place, not that the tree is clean. */
  filesMin: number
  linesMax: number
  /** Which other modules each module may use, through their front doors. */
  modules: Record<string, string[]>
  /** Packages that only one folder of server/src may know. A name ending in `/` stands for a whole scope. */
  packageHomes: Record<string, string>
  /** The only folders of server/src and packages that may read `process.env`. */
  environmentHomes: string[]
  /** Files that are started rather than imported, so they may do work when loaded. */
  entryPoints: string[]
  /** Commands that may load the dev stack, by `import()` only: a production image need not carry it. */
  devCallers: string[]
  /** Files of a module that a command may load around the front door, by `import()` only, to keep its process small. */
  sideDoors: string[]
  /** The only platform folders a module's `domain/` may use. */
  pureFolders: string[]
}
