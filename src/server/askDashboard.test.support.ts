// Sends requests to a dashboard, also such as a browser would not send.
import { type IncomingHttpHeaders, request } from 'node:http';
import { WebSocket } from 'ws';
import type { DashboardServer } from './dashboardServer.js';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a request with any path and headers, as an attacker would. */
export function ask(
  { port }: DashboardServer,
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts).toString('latin1'),
        }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** Returns 101, or the status with which the server refused a WebSocket. */
export function askSocket(
  { port }: DashboardServer,
  path: string,
  headers: Record<string, string> = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
    socket.on('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0);
      socket.terminate();
    });
    socket.on('open', () => {
      resolve(101);
      socket.terminate();
    });
    socket.on('error', (error) => {
      if (socket.readyState !== WebSocket.CLOSING) reject(error);
    });
  });
}
