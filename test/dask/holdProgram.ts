// A program that computes on a Dask cluster until it is killed.
import { connect } from 'longpole';
import { hold } from './runTasks.js';

const [, , address = '', python = '', file = ''] = process.argv;
const client = await connect(address, { python });
await client.submit(hold, file).result();
