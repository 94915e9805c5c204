import type * as X509 from '@peculiar/x509'

// The certificate library reads decorator metadata through functions that Node does not have (their package is
// `reflect-metadata`). It asks only for metadata that its build never writes, so a plain store is enough.
interface MetadataReflect {
  getMetadata?: (key: string, target: object) => unknown
  getOwnMetadata?: (key: string, target: object) => unknown
  defineMetadata?: (key: string, value: unknown, target: object) => void
}

/** Loads the certificate library. Dynamic, because what it needs must be there before its first line runs. */
export async function loadX509(): Promise<typeof X509> {
  const reflect = Reflect as MetadataReflect
  if (reflect.getMetadata === undefined) {
    const store = new WeakMap<object, Map<string, unknown>>()
    reflect.getMetadata = (key, target) => store.get(target)?.get(key)
    reflect.getOwnMetadata = reflect.getMetadata
    reflect.defineMetadata = (key, value, target) => {
      store.set(target, new Map(store.get(target)).set(key, value))
    }
  }
  return await import('@peculiar/x509')
}
