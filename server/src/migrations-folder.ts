import { fileURLToPath } from 'node:url'

/** server/migrations, wherever the tree was copied to. */
export const migrationsFolder = fileURLToPath(new URL('../migrations', import.meta.url))
