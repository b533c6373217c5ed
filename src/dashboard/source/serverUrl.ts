/** Returns the URL of a path of the server beside the page at `base`. The server needs the same token as for the page. */
export function serverUrl(path: string, base: string): URL {
  const url = new URL(path, base);
  const token = new URL(base).searchParams.get('token');
  if (token !== null) url.searchParams.set('token', token);
  return url;
}
