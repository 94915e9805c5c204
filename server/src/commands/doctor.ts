import type { Command } from './command.ts'

export const doctor: Command = {
  usage: 'doctor',
  says: 'Say what is missing on this machine, and how to get it.',
  async run() {
    // The dev stack is loaded only when asked for: a production image need not carry it.
    const { formatDoctor, runDoctor } = await import('../../../dev/doctor.ts')
    const checks = await runDoctor()
    process.stdout.write(formatDoctor(checks))
    return checks.some((check) => check.status === 'fail') ? 1 : 0
  },
}
