// dockerode, as its documentation has it: exec, start with a hijacked connection, its streams taken apart, inspect.
import { readFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import Docker from 'dockerode';
import { now, require, serve } from './serve.mjs';

const version = JSON.parse(await readFile(new URL('node_modules/dockerode/package.json', import.meta.url))).version;
const docker = new Docker();

/** Runs it in the container; the pieces of its standard output go to the function. */
async function run(container, argv, take) {
  const exec = await docker.getContainer(container).exec({ Cmd: argv, AttachStdout: true, AttachStderr: true });
  const stream = await exec.start({ hijack: true, stdin: false });
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  stdout.on('data', take);
  stderr.on('data', () => {});
  docker.modem.demuxStream(stream, stdout, stderr);
  await finished(stream);
  const { ExitCode } = await exec.inspect();
  require(ExitCode === 0, `${argv[0]} exited with ${ExitCode}`);
}

async function exec(_, [container, ...argv]) {
  const begin = now();
  const pieces = [];
  await run(container, argv, (piece) => pieces.push(piece));
  Buffer.concat(pieces);
  return now() - begin;
}

async function stream(bytes, [container, ...argv]) {
  const begin = now();
  let seen = 0;
  await run(container, argv, (piece) => { seen += piece.length; });
  const took = now() - begin;
  require(seen === bytes, `${seen} bytes came`);
  return took;
}

await serve(`dockerode ${version}, node ${process.version}`, { 'docker-exec': exec, 'docker-stream': stream });
