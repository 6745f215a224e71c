/*
 * models.h - all memory models: a line each, from which all other code takes their names.
 */
#ifndef PFS_SIM_MODELS_H
#define PFS_SIM_MODELS_H

struct pfs_memory_model;

/* By strength, with what --help says of it. pfs_model_NAME is in model_NAME.c. Those with keeps_old
 * (model.h) are OLD. */
/* clang-format off */
#define PFS_MODEL_LIST(MODEL, OLD) \
	MODEL(sc, "all see every operation at once") \
	MODEL(tso, "store buffers") \
	OLD(views, "C11's orders") \
	/* end of the list */
/* clang-format on */

#define PFS_MODEL_NOTHING(name, what)
#define PFS_MODEL_EXTERN(name, what) extern const struct pfs_memory_model pfs_model_##name;
PFS_MODEL_LIST(PFS_MODEL_EXTERN, PFS_MODEL_EXTERN)

#define PFS_MODEL_ONE(name, what) +1
#define PFS_MEMORY_MODELS (0u PFS_MODEL_LIST(PFS_MODEL_ONE, PFS_MODEL_ONE))
extern const struct pfs_memory_model *const pfs_memory_models[PFS_MEMORY_MODELS];

/* The model of that name, or NULL. */
const struct pfs_memory_model *pfs_memory_model_of(const char *name);

/* For --help: "sc (...); tso (...); "; and for errors: " sc tso views". */
#define PFS_MODEL_HELP(name, what) #name " (" what "); "
#define PFS_MODEL_WORD(name, what) " " #name
#define PFS_MEMORY_HELP PFS_MODEL_LIST(PFS_MODEL_HELP, PFS_MODEL_HELP)
#define PFS_MEMORY_NAMES PFS_MODEL_LIST(PFS_MODEL_WORD, PFS_MODEL_WORD)

#endif
