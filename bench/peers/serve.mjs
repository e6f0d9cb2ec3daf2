// The protocol of README.md for Node.
import { createInterface } from 'node:readline';

/** Answers requests with these works until standard input ends: each gives the nanoseconds that it took. */
export async function serve(version, works) {
  console.log(`peer ${version}`);
  for await (const line of createInterface({ input: process.stdin })) {
    const [work, count, ...argv] = line.split('\t');
    try {
      console.log(`ok ${await works[work](Number(count), argv)}`);
    } catch (failure) {
      console.log(`error ${String(failure?.message ?? failure).replaceAll('\n', ' ')}`);
    }
  }
  process.exit(0);
}

export const now = () => process.hrtime.bigint();

export function require(holds, what) {
  if (!holds) throw new Error(what);
}
