import { integer, ms, port, text, url, type Setting } from './setting.ts'

/** Of hosts that run containers, and of how they are reached. */
export const sandboxSettings = {
  SWITCHYARD_MESH_HOST: text({
    fallback: '127.0.0.1',
    description: 'Address on which the role sandbox takes signed requests of other processes.',
  }),
  SWITCHYARD_MESH_PORT: port(0, 'Port of the same; 0 takes any free one.'),
  SWITCHYARD_MESH_URL: url({
    protocols: ['http', 'https'],
    description: 'Address at which other processes reach this one. Default: http:// mesh host and port.',
  }),

  SWITCHYARD_CONTAINERS_ACTIVE_MAX: integer({
    fallback: 100,
    min: 1,
    max: 100_000,
    unit: 'containers',
    description: 'Active containers of one project.',
  }),
  SWITCHYARD_CONTAINERS_SWEEP_MS: ms(1_000, 'How often expired containers are looked for.'),
  SWITCHYARD_SANDBOX_DOCKER_SOCKET: text({
    fallback: '/var/run/docker.sock',
    description: 'Socket of the Docker Engine on which the role sandbox runs containers.',
  }),
  SWITCHYARD_SANDBOX_IMAGE: text({
    fallback: 'switchyard/sandbox:full',
    description: 'Image of hosted containers; sandbox/runtime builds it.',
  }),
  SWITCHYARD_SANDBOX_RUNTIME: text({
    fallback: 'auto',
    description: 'OCI runtime: runsc (gVisor), runc, or auto, which takes runsc where the engine has it.',
  }),
  SWITCHYARD_SANDBOX_DIR: text({
    fallback: '.data/sandbox',
    description: 'Folder of the role sandbox: files of containers, the record of commands, the egress proxy.',
  }),
  SWITCHYARD_SANDBOX_MEMORY_MB: integer({
    fallback: 0,
    min: 0,
    max: 100_000_000,
    unit: 'MiB',
    description:
      'Memory that containers of this host may be promised together; 0: what the machine has, times the overcommit.',
  }),
  SWITCHYARD_SANDBOX_OVERCOMMIT: integer({
    fallback: 5,
    min: 1,
    max: 100,
    unit: 'times',
    description: 'How often the memory of the machine is promised. Most containers are idle and use a few MiB.',
  }),
  SWITCHYARD_SANDBOX_CPUS: integer({
    fallback: 1,
    min: 1,
    max: 256,
    unit: 'cores',
    description: 'Processor time of one container.',
  }),
  SWITCHYARD_SANDBOX_PROCESSES: integer({
    fallback: 512,
    min: 16,
    max: 100_000,
    unit: 'processes',
    description: 'Processes and threads of one container.',
  }),
  SWITCHYARD_SANDBOX_POOL: integer({
    fallback: 2,
    min: 0,
    max: 1_000,
    unit: 'containers',
    description: 'Containers of 1 GiB that wait, so that a first command does not.',
  }),
  SWITCHYARD_SANDBOX_DISK_MB_MAX: integer({
    fallback: 1_048_576,
    min: 16,
    max: 16_777_216,
    unit: 'MiB',
    description: 'Largest /mnt/data, whatever the memory of the container would give it.',
  }),
} as const satisfies Record<string, Setting<unknown>>
