/*
 * The bus addresses of the chips of an emulated board, its interrupt lines, and the one register of the
 * board itself. The board is designed by this project: everything here is *assumed*.
 */
#ifndef EASE_AGENT_SIM_BOARD_REGS_H
#define EASE_AGENT_SIM_BOARD_REGS_H

#define BOARD_MAC_BASE	 0x04000000u /* MAC chips, C84302_WINDOW octets each */
#define BOARD_GLUE_BASE	 0x03000000u
#define BOARD_EEE_BASE	 0x05000000u /* the EEE unit */
#define BOARD_POOL_BASE	 0x06000000u /* TNETX4090s, TNETX4090_WINDOW octets each */
#define BOARD_GLUE_LINES 0x0u /* read only: the interrupt lines, a bit each */

enum {
	BOARD_LINE_SWITCH = 0, /* BOARD_SWITCH_LINES, which the switch chips share */
	BOARD_SWITCH_LINES = 8,
	BOARD_LINE_MAC = 8,    /* of the first MAC chip; then one each */
	BOARD_LINE_EEE = 27,   /* of the EEE unit */
	BOARD_LINE_STEP = 28,  /* in lock step: the board can continue when the CPU lets it */
	BOARD_LINE_TIMER = 29, /* an alarm is due */
	BOARD_LINE_END = 30,   /* the input has ended */
	BOARD_LINE_ATTENTION = 31, /* software asked to be called again */
};

/* Shared as PCI's lines are: the driver checks all chips on the line. */
#define BOARD_SWITCH_LINE(device) (BOARD_LINE_SWITCH + (device) % BOARD_SWITCH_LINES)

#endif
