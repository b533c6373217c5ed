// For pages that take a client for granted.
import { connect } from 'longpole';

export const client = await connect({ workers: 2 });
