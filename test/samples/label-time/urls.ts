/** Eight bytes each, without a network. */
export const urls = ['AAAAAAAAAAA=', 'AAAAAAAA8D8='].map((bytes) => `data:;base64,${bytes}`);
